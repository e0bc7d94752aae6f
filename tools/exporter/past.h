// SPDX-License-Identifier: Apache-2.0
/// The last minutes, for plots: a few figures of every node at every reading.
///
/// Properties: at most kMostPoints; a reading without the daemon is a gap; when the host's nodes
/// change, the past begins anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/ids.h"
#include "tools/exporter/reading.h"

namespace vmnuma::tools {

class Past {
 public:
  static constexpr std::size_t kMostPoints = 300;

  void add(const Reading& reading);

  /// Column by column, oldest first; gaps and what is not known are null:
  ///     {"times":[MS,...],"imbalance":[PCT,...],"lost":[MS,...],"nodes":[0,1],
  ///      "load":[[PCT,...],[...]],"owed":...,"locality":...,"free":[[BYTES,...],...]}
  /// `lost` and `owed` are of the epoch, `owed` in per cent of the node's capacity.
  [[nodiscard]] std::string json() const;

 private:
  struct NodePoint {
    std::int64_t load_pct = 0;
    std::int64_t owed_pct = 0;
    std::optional<std::int64_t> locality_pct;
    std::int64_t free_bytes = 0;
  };
  struct Point {
    std::int64_t time_unix_ms = 0;
    std::int64_t imbalance_pct = 0;
    std::int64_t lost_ms = 0;
    std::vector<NodePoint> nodes;  ///< empty: a gap
  };
  std::vector<placement::NodeId> nodes_;
  std::deque<Point> points_;
};

}  // namespace vmnuma::tools
