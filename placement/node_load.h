// SPDX-License-Identifier: Apache-2.0
/// What the clients of one node are predicted to be owed, now and if somebody came or went.
///
/// Problem: the planner asks thousands of times per epoch "what would this node's clients be owed
/// without this one, or with that one?"; sharing out the node's time anew each time would cost
/// clients x log clients. Approach: inside a node the kernel shares CPU time by weight (CFS, cgroup
/// cpu.weight), so a client gets min(demand, weight x level) with one level for the node, and is
/// owed max(0, entitled - that). Clients are kept in two sorted lists, by demand / weight and by
/// entitled / weight, with running sums; level and sum of owed then take two binary searches, also
/// with one client left out and one put in. Terms: *load* - what one client brings to a node.
/// *Level* - time per unit of weight, in 2^-20 us. Properties:
///  1. owed() equals the sum over clients computed one by one, within 1 us a client.
///  2. owed({out, in}) equals owed() after really taking out and putting in.
///  3. Owed is 0 where the demand is served in full; leaving never raises the others' owed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "placement/capacity.h"
#include "placement/model/amounts.h"

namespace vmnuma::placement {

/// What one client brings to the node it lives on.
struct Load {
  CpuTime demand;
  CpuTime entitled;         ///< at most `demand`
  std::int64_t weight = 1;  ///< at least 1
  bool operator==(const Load&) const = default;
};

/// A change to try: one load leaves, one comes; either may be absent.
struct Exchange {
  std::optional<Load> out;
  std::optional<Load> in;
};

class NodeLoad {
 public:
  NodeLoad() = default;
  NodeLoad(const Supply& supply, std::vector<Load> loads);

  /// Predicted owed of all clients together, per epoch.
  [[nodiscard]] CpuTime owed() const { return owed_; }
  /// The same after a change. `out` must be one of the node's loads.
  [[nodiscard]] CpuTime owed(const Exchange& exchange) const;
  /// The level after a change; kAllServed if everybody's demand is met.
  [[nodiscard]] std::int64_t level_after(const Exchange& exchange) const;
  /// What a client with this load is owed at a level.
  [[nodiscard]] static CpuTime owed_at_level(const Load& load, std::int64_t level);
  static constexpr std::int64_t kAllServed = std::numeric_limits<std::int64_t>::max();
  /// What a client with this load gets here, given all others (it is one of the node's loads).
  [[nodiscard]] CpuTime given(const Load& load) const;
  [[nodiscard]] CpuTime demand() const { return demand_; }
  [[nodiscard]] CpuTime capacity() const { return capacity_; }
  [[nodiscard]] const Supply& supply() const { return supply_; }
  /// Makes a change real.
  void apply(const Exchange& exchange);

 private:
  /// One client in a list sorted by `ratio` = amount / weight, with the sums of all before it.
  struct Point {
    std::int64_t ratio = 0;
    std::int64_t amount_before = 0;
    std::int64_t weight_before = 0;
  };
  static std::vector<Point> sorted_points(const std::vector<Load>& loads, CpuTime Load::*amount);
  [[nodiscard]] std::int64_t level(CpuTime served, const Exchange& exchange) const;
  void rebuild();

  Supply supply_;
  std::vector<Load> loads_;
  std::vector<Point> by_demand_;    ///< ends with a sentinel that carries the totals
  std::vector<Point> by_entitled_;  ///< likewise
  CpuTime demand_;
  CpuTime capacity_;
  CpuTime owed_;
};

}  // namespace vmnuma::placement
