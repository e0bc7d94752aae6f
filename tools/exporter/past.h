// SPDX-License-Identifier: Apache-2.0
/// Keeps the last minutes for plots: a few figures per node and reading.
///
/// Properties:
///  - there are at most kMostPoints points;
///  - a reading without the daemon is a gap;
///  - when the host's nodes change, the past is cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "placement/model/ids.h"
#include "tools/exporter/reading.h"

namespace vmnuma::tools {

class Past {
 public:
  static constexpr std::size_t kMostPoints = 300;

  void add(const Reading& reading);

  /// Returns the columns, oldest value first; gaps and unknown values are null:
  ///     {"times":[MS,...],"imbalance":[PCT,...],"lost":[MS,...],"nodes":[0,1],
  ///      "load":[[PCT,...],[...]],"others":...,"owed":...,"locality":...,"free":[[BYTES,...],...]}
  /// `lost` and `owed` are those of the epoch, `owed` in per cent of the node's capacity. `load` is
  /// the VMs' demand and `others` the use by other processes, in per cent of the whole node.
  [[nodiscard]] std::string json() const;

 private:
  struct NodePoint {
    balancer::Figure vm_load_pct;
    balancer::Figure non_vm_pct;
    balancer::Figure owed_pct;
    balancer::Figure locality_pct;
    balancer::Figure free_bytes;
  };
  struct Point {
    std::int64_t time_unix_ms = 0;
    balancer::Figure imbalance_pct;
    balancer::Figure lost_ms;
    std::vector<NodePoint> nodes;  ///< empty: a gap
  };
  std::vector<NodeId> nodes_;
  std::deque<Point> points_;
};

}  // namespace vmnuma::tools
