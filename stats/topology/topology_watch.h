// SPDX-License-Identifier: Apache-2.0
/// Notices while the host runs that its nodes have other CPUs, or that VMs may use others of them.
///
/// Problem: a CPU that goes offline, a node that is plugged and a slice that is confined to other
/// CPUs are told in files only, and reading all of them takes milliseconds. Approach: the short
/// lists that decide about it are read every time, and the topology only if one of them differs.
///
/// Properties:
///  - a change is told once;
///  - a topology that cannot be read now (a hot-plug under way) is read again next time.
#pragma once

#include <optional>
#include <string>

#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// One thread at a time.
class TopologyWatch {
 public:
  /// `root` is the host's root directory, `known` its topology as last read.
  TopologyWatch(files::Directory root, placement::Topology known);

  /// The topology if it is another one than was last known.
  [[nodiscard]] std::optional<placement::Topology> look();

 private:
  [[nodiscard]] std::string read_lists() const;

  files::Directory root_;
  placement::Topology known_;
  std::string lists_;  ///< as of `known_`; empty: not looked yet
};

}  // namespace vmnuma::stats
