// SPDX-License-Identifier: Apache-2.0
/// Notices at run time that the nodes' CPUs, or those that VMs may use, have changed.
///
/// Problem: files are the only sign of a CPU that went offline, a hot-plugged node or a slice that
/// was confined to other CPUs, and reading all of them takes milliseconds. Approach: every time
/// read only the short lists that determine the topology, and the topology itself only if one of
/// them changed.
///
/// Properties:
///  - a change is reported once;
///  - a topology that cannot be read, or that leaves out something else than before (a hot-plug in
///    progress), is read again next time; it is believed if two consecutive readings are equal;
///  - while something is left out, the topology is read again at every 30th call of look().
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

  /// Returns the topology if it, or what is left out of it, has changed.
  [[nodiscard]] std::optional<TopologyReading> look();

 private:
  [[nodiscard]] std::string read_lists() const;

  files::Directory root_;
  TopologyReading known_;
  std::vector<std::string> paths_;           ///< of the lists
  int looks_ = 0;                            ///< since it was read
  std::optional<TopologyReading> doubtful_;  ///< read once, with something else left out
  std::string lists_;                        ///< as of `known_`; empty: not read yet
};

}  // namespace vmnuma::stats
