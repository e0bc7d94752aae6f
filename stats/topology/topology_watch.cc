// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/topology_watch.h"

#include <utility>

#include "stats/topology/topology_reader.h"

namespace vmnuma::stats {

TopologyWatch::TopologyWatch(files::Directory root, placement::Topology known)
    : root_(std::move(root)), known_(std::move(known)) {}

std::string TopologyWatch::read_lists() const {
  std::string lists;
  for (const char* path : {"sys/devices/system/node/online", "sys/devices/system/node/has_memory",
                           "sys/devices/system/cpu/online", "sys/devices/system/cpu/isolated",
                           "sys/fs/cgroup/machine.slice/cpuset.cpus.effective",
                           "sys/fs/cgroup/cpuset.cpus.effective"}) {
    // One that is not there, as machine.slice before the first VM, may come.
    lists += root_.read(path).value_or("none\n");
  }
  return lists;
}

std::optional<placement::Topology> TopologyWatch::look() {
  std::string lists = read_lists();
  if (lists == lists_) {
    return std::nullopt;
  }
  Result<placement::Topology> now = read_topology(root_);
  if (!now) {
    return std::nullopt;
  }
  lists_ = std::move(lists);
  if (*now == known_) {
    return std::nullopt;
  }
  known_ = std::move(*now);
  return known_;
}

}  // namespace vmnuma::stats
