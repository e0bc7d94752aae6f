// SPDX-License-Identifier: Apache-2.0
/// Orders that have not ended yet, or whose outcome has not been measured yet.
///
/// Problem: an order that fails must leave things as they were, and its effect is known only epochs
/// after its end. Approach: for each action the state that it changed is kept. Properties:
///  1. Action numbers only grow, starting after the highest one in the history.
///  2. An action that has ended is no longer under way; what it moved is kept until its outcome is
///     taken or no longer awaited.
///  3. An action is superseded for a VM by every younger one that concerns that VM's memory.
///  4. An action no longer concerns a VM that has ended, nor one that is started under the same
///  UUID.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "balancer/controller/cpu_pins.h"
#include "balancer/controller/originals.h"
#include "placement/model/ids.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

struct RecordFields;

/// The VMs of an action's clients, without duplicates.
[[nodiscard]] std::vector<VmId> vms_of(const Action& action);

struct UnderWay {
  Action action;
  std::vector<std::pair<ClientId, NodeId>> homes_before = {};
  std::vector<std::pair<VmId, std::optional<VmCpus>>> cpu_subsets_before = {};
  std::vector<std::pair<ClientId, NodeId>> spills_before = {};
  std::map<VmId, FirstChanges> first_changes = {};
  bool pinned = false;
  bool restores = false;
};

class OrdersUnderWay {
 public:
  /// What a completed order moved.
  struct Finished {
    Bytes moved;
    Microseconds took;
  };

  explicit OrdersUnderWay(std::int64_t last_action) : next_(last_action + 1) {}

  /// The number of the next action; take_number() also allocates it.
  [[nodiscard]] std::int64_t next() const { return next_; }
  std::int64_t take_number() { return next_++; }
  /// Registers an order. Returns the action's number.
  std::int64_t begin(UnderWay order);
  /// The order of this action; null if it is not under way.
  [[nodiscard]] UnderWay* find(std::int64_t action);
  [[nodiscard]] const UnderWay* find(std::int64_t action) const;
  void end(std::int64_t action) { under_way_.erase(action); }
  void vm_ended(const VmId& vm);
  [[nodiscard]] std::size_t count() const { return under_way_.size(); }

  [[nodiscard]] bool involves(const VmId& vm) const;
  [[nodiscard]] bool is_superseded(std::int64_t action, const VmId& vm) const;

  void await_outcome(std::int64_t action, Finished finished) { finished_[action] = finished; }
  [[nodiscard]] std::optional<Finished> take_finished(std::int64_t action);
  template <class IsAwaited>
  void keep_finished(const IsAwaited& is_awaited) {
    std::erase_if(finished_, [&](const auto& entry) { return !is_awaited(entry.first); });
  }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording contains of this

  std::map<std::int64_t, UnderWay> under_way_;
  std::map<std::int64_t, Finished> finished_;  ///< done, not measured yet
  std::int64_t next_ = 1;
};

}  // namespace vmnuma::balancer
