// SPDX-License-Identifier: Apache-2.0
/// Notices at run time that the nodes' CPUs, or those that VMs may use, have changed.
///
/// Problem: a CPU going offline, a plugged node and a slice confined to other CPUs show in files
/// only, and reading all of them takes milliseconds. Approach: read the short lists that determine
/// it every time, and the topology only if one of them differs.
///
/// Properties:
///  - a change is reported once;
///  - a topology that cannot be read now, or with something else left out than before (a hot-plug
///    in progress), is read again next time; two equal readings in a row are believed;
///  - while something is left out, the topology is read again at every 30th look.
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

  /// The topology if it, or what is left out of it, has changed.
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
