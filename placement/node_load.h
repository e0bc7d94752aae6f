// SPDX-License-Identifier: Apache-2.0
/// What the clients of one node are predicted to be owed, now and if clients came or left.
///
/// Problem: the planner asks thousands of times per epoch "what would this node's clients be owed
/// without this one, or with that one?"; sharing out the node's time again each time would cost
/// clients x log clients. Approach: inside a node the kernel shares thread time by weight (CFS,
/// cgroup cpu.weight), so a client runs min(demand, weight x level) with one level for the node;
/// all of it is worth one efficiency (placement/capacity.h); it is owed max(0, entitled - run x
/// efficiency). Loads are kept in sorted lists with running sums, so that level and sum of owed
/// take a few binary searches, even with some clients removed and others added; equal loads, as the
/// clients of a wide VM bring, are one entry with a count.
/// Terms: *load* - what one client brings to a node. *Pace* - level and efficiency.
/// Properties:
///  1. owed() equals the sum over clients computed one by one, within 2 us a client.
///  2. owed({out, in}) equals owed() after apply({out, in}).
///  3. Owed is 0 where cores serve the demand in full. A client that leaves never raises what
///     others are owed.
///  4. apply() takes time by the number of different loads, however often each is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "placement/capacity.h"
#include "placement/model/amounts.h"

namespace vmnuma {

/// What one client brings to the node it lives on.
struct Load {
  CpuTime demand;
  CpuTime entitled;         ///< at most `demand`
  std::int64_t weight = 1;  ///< at least 1
  bool operator==(const Load&) const = default;
};

/// At most kMost loads; a change to try is never larger.
class FewLoads {
 public:
  static constexpr std::size_t kMost = 4;

  FewLoads() = default;
  FewLoads(std::initializer_list<Load> loads);
  void add(const Load& load);
  [[nodiscard]] const Load* begin() const { return loads_.data(); }
  [[nodiscard]] const Load* end() const { return loads_.data() + count_; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::array<Load, kMost> loads_;
  std::size_t count_ = 0;
};

/// A change to try: some loads leave, some come.
struct Exchange {
  FewLoads out;
  FewLoads in;
};

/// A load, and how much of its owed time counts.
struct WeighedLoad {
  Load load;
  Permille weight;
};

/// How fast a node's clients progress: what a unit of weight may run, and what running is worth.
struct Pace {
  static constexpr int kBits = 24;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kFull = std::int64_t{1} << kBits;

  std::int64_t level = kUnlimited;  ///< thread time per unit of weight, in 2^-24 us
  std::int64_t efficiency = kFull;  ///< core time per thread time, in 2^-24

  /// Returns the core time that this load gets.
  [[nodiscard]] CpuTime given(const Load& load) const;
  /// Returns what the load is then owed.
  [[nodiscard]] CpuTime owed(const Load& load) const;
  /// Returns the sum over the loads of what each is owed times its weight in thousandths.
  [[nodiscard]] std::int64_t owed_by_thousandths(std::span<const WeighedLoad> loads) const;
};

class NodeLoad {
 public:
  NodeLoad() = default;
  NodeLoad(const Supply& supply, const std::vector<Load>& loads);

  /// Returns the predicted owed time of all clients together, per epoch.
  [[nodiscard]] CpuTime owed() const { return owed_; }
  /// Returns the same after a change. The loads that leave must be among the node's.
  [[nodiscard]] CpuTime owed(const Exchange& exchange) const;
  /// Returns the pace after a change.
  [[nodiscard]] Pace pace_after(const Exchange& exchange) const;
  [[nodiscard]] CpuTime demand() const { return demand_; }
  [[nodiscard]] CpuTime entitled() const { return entitled_; }
  [[nodiscard]] CpuTime capacity() const { return capacity_; }
  [[nodiscard]] const Supply& supply() const { return supply_; }
  /// Carries out a change.
  void apply(const Exchange& exchange);

 private:
  /// Equal loads in a sorted list, with the sums of all before them.
  struct Point {
    std::int64_t key = 0;
    Load load;
    std::int64_t count = 1;
    std::int64_t demand_before = 0;
    std::int64_t entitled_before = 0;
    std::int64_t weight_before = 0;
    /// The owed time if all of them ran their full demand with every thread busy; in by_demand_
    /// only.
    std::int64_t owed_before = 0;
  };
  /// What a list is sorted by.
  enum class Key {
    kDemand,    ///< the level at which its demand is met
    kEntitled,  ///< the level at which it runs as much as it is entitled to
    kNeed,      ///< entitled / demand: the efficiency it needs
  };
  using Points = std::vector<Point>;  ///< ends with a sentinel that carries the totals

  static std::int64_t key_of(const Load& load, Key key);
  [[nodiscard]] Points points_of(const std::vector<Load>& loads, Key key) const;
  void add_up(Points& points, Key key) const;
  /// Returns where equal loads are, or where such a load would be inserted.
  static Points::iterator place_of(Points& points, const Load& load, Key key);
  void insert(Points& points, const Load& load, Key key);
  void erase(Points& points, const Load& load, Key key);
  [[nodiscard]] std::int64_t level(const Exchange& exchange) const;
  [[nodiscard]] CpuTime owed_at(const Pace& pace) const;
  void take_totals();

  Supply supply_;
  CpuTime threads_left_;
  CpuTime capacity_;
  std::int64_t busy_efficiency_ = Pace::kFull;  ///< with every thread busy
  Points by_demand_;
  Points by_entitled_;
  Points by_need_;
  CpuTime demand_;
  CpuTime entitled_;
  CpuTime owed_;
};

}  // namespace vmnuma
