// SPDX-License-Identifier: Apache-2.0
/// A change that was considered, and the best of many.
///
/// Problem: nearly all candidates are bad, and computing exactly how bad takes most of the
/// planner's time. Approach: a candidate is judged in two steps. `Promise` gives an upper bound of
/// its benefit, first without what its memory costs; effect and guards are computed only if that
/// bound beats what has been found already. `Considered` keeps the best candidate that no guard
/// stops and, for the explanation, the best few of the others.
///
/// Terms: *benefit* - gain x horizon - cost.
///
/// Properties:
///  - the best candidate is the same as if all had been judged exactly;
///  - of equal ones the first is kept;
///  - the others that are kept are the same, too, and so is the doubt if there is no best one.
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
  /// Returns true if it matters whether a candidate would pay if it lasted.
  [[nodiscard]] bool wants_doubts() const { return !doubt_ && !best_; }
  /// Returns true if a candidate with at most this benefit would not be kept, `stopped` or not.
  [[nodiscard]] bool hopeless(CpuTime benefit, bool stopped) const;

 private:
  std::vector<NodeIndex> left_out_;
  std::optional<Candidate> best_;
  bool doubt_ = false;
  std::vector<Candidate> stopped_;  ///< best benefit first, at most kMostStopped
};

/// Bounds on gains and costs of changes.
///
/// Owed time is exact. What moving a client saves in memory, groups and talk is at most all that
/// these cost now. Memory for which there is room costs the same whatever else moves. What concerns
/// one client, or one client on one node, is computed once.
class Promise {
 public:
  /// For the arrangement as it is now.
  explicit Promise(const Arrangement& arrangement);

  struct Gain {
    CpuTime per_epoch;
    CpuTime in_all;       ///< over the horizon, as in an Effect
    CpuTime if_it_lasts;  ///< over the horizon if all of the shortage lasts
  };
  /// Returns upper bounds of the gain that judge() finds, apart from rounding.
  [[nodiscard]] Gain most_gain(std::span<const Rehoming> changes);
  /// Returns a lower bound of the part of the cost that does not depend on where the clients go.
  [[nodiscard]] CpuTime cost_of_leaving(std::span<const Rehoming> changes) const;
  /// Returns a lower bound of the other part.
  [[nodiscard]] CpuTime least_cost_of_memory(std::span<const Rehoming> changes);

 private:
  /// What has been needed so far.
  struct Known {
    std::optional<CpuTime> saved_beside;                 ///< memory, groups and talk
    std::optional<CpuTime> gain_of_leaving;              ///< of its node
    std::vector<std::optional<CpuTime>> cost_of_memory;  ///< per node, or empty
  };
  [[nodiscard]] CpuTime saved_beside(ClientIndex client);
  [[nodiscard]] CpuTime gain_of_leaving(ClientIndex client);
  [[nodiscard]] CpuTime cost_of_memory(const Rehoming& change);

  const Arrangement* arrangement_;
  std::vector<Known> known_;  ///< per client
};

/// Returns effect and guards of a set of rehomings made for CPU time, groups or talk.
[[nodiscard]] Candidate judge(const Arrangement& arrangement, Reason reason,
                              std::span<const Rehoming> changes);

/// Judges such a set if its upper bound is good enough.
void consider(const Arrangement& arrangement, Promise& promise, Reason reason,
              std::span<const Rehoming> changes, Considered& considered);

}  // namespace vmnuma::balancer
