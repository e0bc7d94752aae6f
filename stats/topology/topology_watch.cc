// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/topology_watch.h"

#include <utility>

#include "stats/topology/cpu_isolation.h"

namespace vmnuma::stats {

namespace {

/// With epochs of two seconds, a minute.
constexpr int kLooksUntilTriedAgain = 30;

std::vector<std::string> watched_files() {
  std::vector<std::string> paths = cpu_isolation_files();
  paths.insert(paths.end(), {"sys/devices/system/node/online", "sys/devices/system/node/has_memory",
                             "sys/devices/system/cpu/online"});
  return paths;
}

}  // namespace

TopologyWatch::TopologyWatch(files::Directory root, TopologyReading known)
    : root_(std::move(root)), known_(std::move(known)), paths_(watched_files()) {}

std::string TopologyWatch::read_lists() const {
  std::string lists;
  for (const std::string& path : paths_) {
    // A missing list, such as that of machine.slice before the first VM, may appear later.
    lists += root_.read(path).value_or("none\n");
  }
  return lists;
}

std::optional<TopologyReading> TopologyWatch::look() {
  std::string lists = read_lists();
  const bool tries_again = !known_.left_out.empty() && ++looks_ >= kLooksUntilTriedAgain;
  if (lists == lists_ && !tries_again) {
    return std::nullopt;
  }
  looks_ = 0;
  Result<TopologyReading> now = read_topology(root_);
  if (!now) {
    return std::nullopt;
  }
  if (!now->left_out.empty() && now->left_out != known_.left_out && doubtful_ != *now) {
    doubtful_ = std::move(*now);
    return std::nullopt;
  }
  doubtful_.reset();
  lists_ = std::move(lists);
  if (*now == known_) {
    return std::nullopt;
  }
  known_ = std::move(*now);
  return known_;
}

}  // namespace vmnuma::stats
