// SPDX-License-Identifier: Apache-2.0
/// Notices while the host runs that its nodes have other CPUs, or that VMs may use others of them.
///
/// Problem: a CPU that goes offline, a node that is plugged and a slice that is confined to other
/// CPUs are told in files only, and reading all of them takes milliseconds. Approach: the short
/// lists that decide about it are read every time, and the topology only if one of them differs.
///
/// Properties:
///  - a change is told once;
///  - a topology that cannot be read now, or of which something else is left out than before (a
///    hot-plug under way), is read again next time; two equal readings in a row are believed;
///  - as long as something is left out, the topology is read again at every 30th look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stats/files/directory.h"
#include "stats/topology/topology_reader.h"

namespace vmnuma::stats {

/// One thread at a time.
class TopologyWatch {
 public:
  /// `root` is the host's root directory, `known` its topology as last read.
  TopologyWatch(files::Directory root, TopologyReading known);

  /// The topology if it, or what is left out of it, is other than was last known.
  [[nodiscard]] std::optional<TopologyReading> look();

 private:
  [[nodiscard]] std::string read_lists() const;

  files::Directory root_;
  TopologyReading known_;
  std::vector<std::string> paths_;           ///< of the lists
  int looks_ = 0;                            ///< since it was read
  std::optional<TopologyReading> doubtful_;  ///< read once, with something else left out
  std::string lists_;                        ///< as of `known_`; empty: not looked yet
};

}  // namespace vmnuma::stats
