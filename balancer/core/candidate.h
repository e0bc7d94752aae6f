// SPDX-License-Identifier: Apache-2.0
/// A change that was considered, and the best of many.
///
/// Problem: nearly all candidates are bad, and computing exactly how bad takes most of the
/// planner's time. Approach: a candidate is judged in two steps. `Promise` gives an upper bound of
/// its benefit from the nodes' totals alone; effect and guards are computed only if that bound
/// beats what has been found already. `Considered` keeps the best candidate that no guard stops
/// and, for the explanation, the best few of the others that were judged.
///
/// Terms: *benefit* - gain x horizon - cost.
///
/// Properties:
///  - the best candidate is the same as if all had been judged exactly;
///  - of equal ones the first is kept.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// A change that was considered: what it is, its effect, and the guard that stops it, if any.
struct Candidate {
  Reason reason{};
  std::vector<Rehoming> changes;
  Effect effect;
  CpuTime benefit;
  std::optional<Guard> stopped_by;
};

/// Keeps the best candidate that no guard stops, and the best few of the others.
class Considered {
 public:
  Considered() = default;
  /// Ignores candidates that concern these nodes.
  explicit Considered(std::vector<NodeIndex> left_out) : left_out_(std::move(left_out)) {}
  [[nodiscard]] bool leaves_out(const Arrangement& arrangement,
                                std::span<const Rehoming> changes) const;

  void add(Candidate candidate);
  [[nodiscard]] const std::optional<Candidate>& best() const { return best_; }
  [[nodiscard]] const std::vector<Candidate>& stopped() const { return stopped_; }
  /// Records that a candidate was judged that would pay if it lasted.
  void record_doubt() { doubt_ = true; }
  [[nodiscard]] bool doubt() const { return doubt_; }
  /// Returns true if a candidate with at most this benefit would not be kept, `stopped` or not.
  [[nodiscard]] bool hopeless(CpuTime benefit, bool stopped) const;

 private:
  std::vector<NodeIndex> left_out_;
  std::optional<Candidate> best_;
  bool doubt_ = false;
  std::vector<Candidate> stopped_;  ///< best benefit first, at most kMostStopped
};

/// Upper bounds on the gains of changes.
///
/// A node that a client leaves gains at most what it would gain if no client came instead, which is
/// computed once per client; and all clients of a node together are owed at least `least_owed`.
/// Memory for which there is room costs the same whatever else moves, which is computed once per
/// client and node.
class Promise {
 public:
  /// For the arrangement as it is now.
  explicit Promise(const Arrangement& arrangement);

  /// Returns an upper bound of the gain that judge() finds, apart from rounding.
  [[nodiscard]] CpuTime most_gain(std::span<const Rehoming> changes);
  /// Returns an upper bound of the benefit for a gain of at most `most_gain`.
  [[nodiscard]] CpuTime most_benefit(CpuTime most_gain, std::span<const Rehoming> changes);

 private:
  [[nodiscard]] CpuTime gain_of_leaving(ClientIndex client);
  [[nodiscard]] CpuTime cost_of_memory(const Rehoming& change);

  const Arrangement* arrangement_;
  std::vector<CpuTime> saved_beside_;                    ///< per client: memory, groups and talk
  std::vector<std::optional<CpuTime>> gain_of_leaving_;  ///< per client, once needed
  std::vector<std::optional<CpuTime>> cost_of_memory_;   ///< per client and node
};

/// Returns effect and guards of a set of rehomings made for CPU time, groups or talk.
[[nodiscard]] Candidate judge(const Arrangement& arrangement, Reason reason,
                              std::span<const Rehoming> changes);

/// Judges such a set if its upper bound is good enough.
void consider(const Arrangement& arrangement, Promise& promise, Reason reason,
              std::span<const Rehoming> changes, Considered& considered);

}  // namespace vmnuma::balancer
