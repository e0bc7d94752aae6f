// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/sequence.h"

#include <algorithm>
#include <optional>
#include <span>

namespace vmnuma::balancer {

namespace {

class Sequencer {
 public:
  Sequencer(const Arrangement& now, std::int64_t most_sets)
      : now_(now), room_(room_of(now.snapshot())), then_(now), sets_left_(most_sets) {}

  Sequence run(const Homes& homes) {
    for (ClientIndex client = 0; client < homes.size(); ++client) {
      if (homes[client] != kNoNode && now_.home(client) != kNoNode &&
          homes[client] != now_.home(client)) {
        waiting_.push_back({client, homes[client]});
      }
    }
    while (!waiting_.empty()) {
      std::vector<Rehoming> next;
      for (std::size_t together = 1; next.empty() && together <= Arrangement::kMostTogether;
           ++together) {
        next = best_of(together);
      }
      if (next.empty()) {
        break;
      }
      take(next);
    }
    for (const Rehoming& left : waiting_) {
      sequence_.stuck.push_back({now_.snapshot().clients[left.client].id, left.to,
                                 blocking_guard(std::span(&left, 1)).value_or(Guard::kNoRoom)});
    }
    sequence_.reached = then_.homes();
    return std::move(sequence_);
  }

 private:
  [[nodiscard]] std::optional<Guard> blocking_guard(std::span<const Rehoming> changes) const {
    for (const Rehoming& change : changes) {
      if (then_.forbidden_by_group(change.client, change.to, changes)) {
        return Guard::kAntiAffinity;
      }
    }
    const bool fits = then_.effect_of(changes).fits && have_room(room_, now_, then_, changes);
    return fits ? std::nullopt : std::optional(Guard::kNoRoom);
  }

  /// Returns the possible set of `together` waiting moves that saves most; empty if there is none.
  /// Several clients move together only if each goes to the node that the one before it leaves:
  /// other combinations would be possible one by one.
  std::vector<Rehoming> best_of(std::size_t together) {
    best_.clear();
    for (std::size_t first = 0; first < waiting_.size(); ++first) {
      std::vector<Rehoming> changes{waiting_[first]};
      extend(changes, together);
    }
    return std::move(best_);
  }

  void extend(std::vector<Rehoming>& changes, std::size_t together) {
    if (changes.size() > 1) {
      if (sets_left_ == 0) {
        return;
      }
      --sets_left_;
    }
    if (changes.size() == together) {
      if (!blocking_guard(changes)) {
        const CpuTime benefit = then_.effect_of(changes).benefit();
        if (best_.empty() || benefit > best_benefit_) {
          best_ = changes;
          best_benefit_ = benefit;
        }
      }
      return;
    }
    const NodeIndex crowded = changes.back().to;
    for (const Rehoming& other : waiting_) {
      if (then_.home(other.client) == crowded &&
          std::ranges::find(changes, other) == changes.end()) {
        changes.push_back(other);
        extend(changes, together);
        changes.pop_back();
      }
    }
  }

  void take(const std::vector<Rehoming>& changes) {
    const Effect effect = then_.effect_of(changes);
    Step step;
    for (const Rehoming& change : changes) {
      const MemoryProfile& memory = then_.memory(change.client);
      step.relocations.push_back({now_.snapshot().clients[change.client].id,
                                  then_.home(change.client), change.to,
                                  memory.can_follow ? memory.not_on(change.to) : Bytes{}});
      std::erase(waiting_, change);
    }
    step.lost_before = then_.lost();
    then_.apply(changes);
    step.lost_after = then_.lost();
    step.cost = std::max(effect.cost, CpuTime{});
    sequence_.steps.push_back(std::move(step));
  }

  const Arrangement& now_;
  MemoryRoom room_;
  Arrangement then_;
  std::vector<Rehoming> waiting_;
  std::vector<Rehoming> best_;
  CpuTime best_benefit_;
  std::int64_t sets_left_;
  Sequence sequence_;
};

}  // namespace

Sequence in_order(const Arrangement& now, const Homes& homes, std::int64_t most_sets) {
  return Sequencer(now, most_sets).run(homes);
}

}  // namespace vmnuma::balancer
