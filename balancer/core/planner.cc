// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/planner.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "balancer/core/due.h"
#include "balancer/core/guards.h"
#include "balancer/core/memory_pulls.h"
#include "balancer/core/search.h"
#include "balancer/core/spill.h"
#include "placement/base/sorted.h"
#include "placement/initial.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostRejections = 64;
/// The most candidates that may prove useless; each costs a search of its own.
constexpr std::size_t kMostUseless = 3;

/// Returns the local share of the memory of the clients that move, taken together.
Permille locality_over(const Arrangement& arrangement, const std::vector<Rehoming>& changes,
                       bool after) {
  Bytes local;
  Bytes all;
  for (const Rehoming& change : changes) {
    const MemoryProfile& memory = arrangement.memory(change.client);
    all += memory.resident;
    if (after && memory.can_follow) {
      local += memory.resident;
    } else if (const NodeIndex node = after ? change.to : arrangement.home(change.client);
               node != kNoNode) {
      local += memory.on(node);
    }
  }
  return permille_of(local.value, all.value, Permille{1000});
}

/// Returns VMs that have clients without a home. Those with memory that cannot follow come first,
/// because only one node suits them; then wide and busy ones, because small ones fit more easily
/// into what is left over.
std::vector<std::size_t> homeless_vms(const Snapshot& snapshot) {
  std::vector<std::size_t> vms;
  std::vector<CpuTime> loads(snapshot.vms.size());
  for (std::size_t i = 0; i < snapshot.vms.size(); ++i) {
    const VmState& vm = snapshot.vms[i];
    bool homeless = false;
    for (const ClientState& client : clients_of(snapshot, vm)) {
      homeless = homeless || client.home == kNoNode;
      loads[i] += client.load;
    }
    if (homeless && vm.fresh) {
      vms.push_back(i);
    }
  }
  const auto before = [&](std::size_t a, std::size_t b) {
    const bool a_stays = !snapshot.vms[a].memory_stays_because.empty();
    const bool b_stays = !snapshot.vms[b].memory_stays_because.empty();
    return a_stays != b_stays ? a_stays : loads[a] > loads[b];
  };
  std::ranges::stable_sort(vms, before);
  return vms;
}

bool host_is_large_enough(const Snapshot& snapshot, const Options& options) {
  const std::vector<NodeIndex> homes = snapshot.topology.homes();
  std::int64_t total = 0;
  bool all_are = true;
  for (const NodeIndex node : homes) {
    const std::int64_t cores = snapshot.topology.nodes[node].core_count();
    total += cores;
    all_are = all_are && cores >= options.rebalance_cores_node;
  }
  return homes.size() >= 2 && total >= options.rebalance_cores_total && all_are;
}

/// Returns true if a client moved in the epoch that was just measured, so that its figures are a
/// mixture.
bool has_just_moved(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.clients, [](const ClientState& client) {
    return client.came_from != kNoNode && client.epochs_here <= 1;
  });
}

class Planner {
 public:
  Planner(const Snapshot& snapshot, const Options& options, const Circumstances& circumstances)
      : snapshot_(snapshot),
        options_(options),
        circumstances_(circumstances),
        now_(snapshot, options, Arrangement::Basis::kDemand) {
    plan_.epoch = snapshot.epoch;
    plan_.lost = lost_with_present_spills(now_);
    plan_.imbalance = now_.imbalance();
    known_ = is_measured(snapshot);
    owed_ = owed_beside_spills(now_);
    lost_ = now_.lost() - owed_at_home(now_) + owed_;
  }

  Plan make() {
    if (options_.rebalance_enable == 0) {
      return std::move(plan_);
    }
    place();
    if (!host_is_large_enough(snapshot_, options_)) {
      refuse_all(Guard::kDisabled);
    } else if (circumstances_.breaker_open) {
      refuse_all(Guard::kBreaker);
    } else {
      std::size_t before = 0;
      do {
        before = plan_.actions.size();
        balance_load();
        take_turns();
        keep_groups();
        improve_locality();
      } while (plan_.actions.size() > before);
      prepare();
    }
    spill();
    pull_memory();
    std::ranges::stable_sort(plan_.rejections, std::ranges::greater(), &Rejection::gain);
    plan_.rejections.resize(std::min(plan_.rejections.size(), kMostRejections));
    return std::move(plan_);
  }

 private:
  /// Reports why nothing is done, for what would have been worth doing.
  void refuse_all(Guard guard) {
    Considered considered;
    consider_load_moves(now_, Reason::kLoadMove, considered);
    if (considered.best()) {
      reject_best(considered, guard);
    }
  }

  void place() {
    const std::vector<std::size_t> vms = homeless_vms(snapshot_);
    if (vms.empty()) {
      return;
    }
    Arrangement by_load(snapshot_, options_, Arrangement::Basis::kLoad);
    NodeIndex round_robin = circumstances_.last_placed_on;
    for (const std::size_t vm : vms) {
      const std::vector<HomeChoice> choices = choose_homes(
          by_load, snapshot_.vms[vm].first_client, snapshot_.vms[vm].client_count, round_robin);
      std::vector<Rehoming> changes;
      changes.reserve(choices.size());
      for (const HomeChoice& choice : choices) {
        changes.push_back({choice.client, choice.home});
      }
      if (!changes.empty()) {
        take(Reason::kInitialPlacement, changes);
      }
    }
    spread_first_homes(now_, plan_.actions);
  }

  void balance_load() {
    while (is_imbalanced(now_)) {
      if (options_.swap_migrate_only > 0) {
        Considered moves(left_out_);
        consider_load_moves(now_, Reason::kLoadMove, moves);
        if (leave_out_useless(moves)) {
          continue;
        }
        if (moves.best()) {
          // A swap is not tried if a move will do, even if moves are not due yet.
          a_move_waits_ = !is_due_for_load(snapshot_, options_.swap_migrate_only);
          if (a_move_waits_) {
            reject(moves.stopped());
            reject_best(moves, Guard::kNotDue);
            return;
          }
          if (!take_best(moves)) {
            return;
          }
          continue;
        }
        reject(moves.stopped());
        const bool is_due = is_due_for_load(snapshot_, options_.swap_migrate_only);
        a_move_waits_ = moves.doubt() || (useless_ > 0 && !is_due);
      }
      if (!is_due_for_load(snapshot_, options_.swap_interval) || options_.swap_load_enable == 0) {
        return;
      }
      Considered others(left_out_);
      consider_load_swaps(now_, others);
      if (!others.best()) {
        reject(others.stopped());
        if (options_.swap_migrate_only == 0) {
          return;  // several moves at once are moves, too
        }
        others = Considered(left_out_);
        consider_chains(now_, others);
      }
      if (leave_out_useless(others)) {
        continue;
      }
      if (!take_best(others)) {
        return;
      }
    }
  }

  /// Returns true if a swap would help, but swaps are not due yet.
  [[nodiscard]] bool a_swap_waits() const {
    if (is_due_for_load(snapshot_, options_.swap_interval) || options_.swap_load_enable == 0 ||
        !is_imbalanced(now_)) {
      return false;
    }
    Considered swaps;
    consider_load_swaps(now_, swaps);
    return swaps.best().has_value();
  }

  void take_turns() {
    if (!epoch_is_due(snapshot_.epoch, options_.lterm_fairness_interval) || moves_ > 0 ||
        a_move_waits_ || has_just_moved(snapshot_)) {
      return;
    }
    Considered considered;
    consider_long_term(now_, considered);
    if (!considered.best() || !a_swap_waits()) {
      take_best(considered);
    }
  }

  void keep_groups() {
    bool again = true;
    while (again) {
      Considered considered;
      consider_group_moves(now_, considered);
      again = take_best(considered);
    }
  }

  void improve_locality() {
    bool again = true;
    while (again) {
      Considered considered;
      consider_locality_moves(now_, considered);
      if (!considered.best() && epoch_is_due(snapshot_.epoch, options_.swap_interval)) {
        consider_locality_swaps(now_, considered);
      }
      again = take_best(considered);
    }
  }

  /// Moves a client before the expected shortage, one move per plan.
  void prepare() {
    if (!plan_.actions.empty() || a_move_waits_ || has_just_moved(snapshot_) ||
        !something_is_forecast(snapshot_)) {
      return;
    }
    const Arrangement expected(snapshot_, options_, Arrangement::Basis::kLoad);
    if (expected.imbalance().value >= options_.mig_imbalance_threshold * 10) {
      Considered considered;
      consider_load_moves(expected, Reason::kForecastMove, considered);
      take_best(considered);
    }
  }

  void pull_memory() {
    const auto spills = [this](const Action& pull) {
      return std::ranges::any_of(plan_.actions, [&](const Action& other) {
        return other.reason == Reason::kSpill &&
               other.relocations.front().client.vm == pull.relocations.front().client.vm;
      });
    };
    for (Action& pull : memory_pulls(now_)) {
      if (spills(pull)) {
        continue;  // one order at a time
      }
      pull.predicted.known = known_;
      pull.predicted.lost_before = pull.predicted.lost_after = lost_;
      pull.predicted.imbalance_before = pull.predicted.imbalance_after = now_.imbalance();
      plan_.actions.push_back(std::move(pull));
    }
  }

  /// Finds clients that begin or cease to run on a second node. With an open breaker nothing
  /// changes.
  void spill() {
    if (circumstances_.breaker_open) {
      return;
    }
    plan_.spills = find_spills(now_);
    if (!plan_.spills.empty() || spills_already(snapshot_)) {
      for (const VmState& vm : snapshot_.vms) {
        change_spills(vm);
      }
    }
  }

  /// Adds one action for all clients of a VM with spills that begin, change or end; none in
  /// addition to its moves.
  void change_spills(const VmState& vm) {
    Action action{Reason::kSpill};
    CpuTime saves;
    for (ClientIndex i = vm.first_client; i < vm.end_client(); ++i) {
      const ClientState& client = snapshot_.clients[i];
      if ((!vm.fresh && !is_unread_for_long(vm)) || client.moving || now_.home(i) != client.home ||
          client.home == kNoNode || !snapshot_.nodes[client.home].known) {
        return;
      }
      if (client.spills_to != kNoNode && is_kept_unread(snapshot_, client)) {
        continue;
      }
      const Spill* found = find_sorted(plan_.spills, client.id, &Spill::client);
      const NodeIndex to = found != nullptr ? found->to : kNoNode;
      if (to != client.spills_to) {
        action.relocations.push_back({client.id, client.home, client.home, Bytes{}, to});
        saves += to == kNoNode ? CpuTime{} : found->saves;
      }
    }
    if (action.relocations.empty()) {
      return;
    }
    action.predicted.known = known_;
    action.predicted.lost_before = lost_ + saves;
    action.predicted.lost_after = lost_;
    action.predicted.imbalance_before = action.predicted.imbalance_after = now_.imbalance();
    plan_.actions.push_back(std::move(action));
  }

  /// If the best candidate does not pay on top of spills, leaves out its nodes for the rest of the
  /// plan: spills do there what can be done, and the candidate would hide those of other nodes.
  /// Returns false if it was not left out.
  bool leave_out_useless(const Considered& considered) {
    if (!considered.best() || useless_ == kMostUseless ||
        !does_not_pay_beside_spills(*considered.best())) {
      return false;
    }
    ++useless_;
    for (const Rehoming& change : considered.best()->changes) {
      left_out_.push_back(change.to);
      left_out_.push_back(now_.home(change.client));
    }
    reject_best(considered, Guard::kDoesNotPay);
    return true;
  }

  /// Makes the best candidate an action. Returns false if there is none or it has to wait for the
  /// next epoch.
  bool take_best(const Considered& considered) {
    reject(considered.stopped());
    if (!considered.best()) {
      return false;
    }
    if (does_not_pay_beside_spills(*considered.best()) || costs_now(*considered.best())) {
      reject_best(considered, Guard::kDoesNotPay);
      return false;
    }
    if (moves_ >= migrations_per_epoch(options_, snapshot_.topology.home_count())) {
      reject_best(considered, Guard::kActionLimit);
      return false;
    }
    ++moves_;
    take(considered.best()->reason, considered.best()->changes);
    return true;
  }

  /// Returns true if the candidate is made for CPU time that its clients would get on second nodes
  /// as well, or nearly. It must save twice its cost: the saving is a small difference of large
  /// figures, and loads change.
  [[nodiscard]] bool does_not_pay_beside_spills(const Candidate& candidate) const {
    if (!is_for_load(candidate.reason) || options_.spill_enable == 0) {
      return false;
    }
    Arrangement after = now_;
    after.apply(candidate.changes);
    const Effect& effect = candidate.effect;
    const CpuTime gain = effect.gain - effect.owed + owed_ - owed_beside_spills(after);
    return gain * options_.move_horizon <= std::max(effect.cost, CpuTime{}) * 2;
  }

  /// Returns true if the candidate is made only for an expected shortage, and a client would wait
  /// because of it now.
  [[nodiscard]] bool costs_now(const Candidate& candidate) const {
    return candidate.reason == Reason::kForecastMove &&
           now_.effect_of(candidate.changes).gain < CpuTime{};
  }

  /// Applies any number of rehomings and returns their effect. All are applied at once, because a
  /// client that leaves makes room for others. For more than kMostTogether the cost is the sum of
  /// what each would cost alone.
  Effect apply(const std::vector<Rehoming>& changes) {
    if (changes.size() <= Arrangement::kMostTogether) {
      const Effect effect = now_.effect_of(changes);
      now_.apply(changes);
      return effect;
    }
    Effect sum;
    sum.gain = now_.lost();
    sum.owed = owed_at_home(now_);
    for (const Rehoming& change : changes) {
      sum.cost += now_.effect_of(std::array{change}).cost;
    }
    now_.apply(changes);
    sum.gain -= now_.lost();
    sum.owed -= owed_at_home(now_);
    return sum;
  }

  void take(Reason reason, const std::vector<Rehoming>& changes) {
    Action action{reason};
    for (const Rehoming& change : changes) {
      const MemoryProfile& memory = now_.memory(change.client);
      action.relocations.push_back({snapshot_.clients[change.client].id, now_.home(change.client),
                                    change.to,
                                    memory.can_follow ? memory.not_on(change.to) : Bytes{}});
    }
    Prediction& predicted = action.predicted;
    predicted.known = known_;
    predicted.lost_before = lost_;
    predicted.imbalance_before = now_.imbalance();
    predicted.locality_before = locality_over(now_, changes, /*after=*/false);
    predicted.locality_after = locality_over(now_, changes, /*after=*/true);
    useless_ = 0;
    left_out_.clear();
    const Effect effect = apply(changes);
    const CpuTime owed_before = std::exchange(owed_, owed_beside_spills(now_));
    lost_ = std::max(lost_ - (effect.gain - effect.owed) - (owed_before - owed_), CpuTime{});
    predicted.lost_after = lost_;
    predicted.gain_at_home = effect.gain;
    predicted.cost = std::max(effect.cost, CpuTime{});
    predicted.imbalance_after = now_.imbalance();
    plan_.actions.push_back(std::move(action));
  }

  void reject_best(const Considered& considered, Guard guard) {
    Candidate candidate = *considered.best();
    candidate.stopped_by = guard;
    reject(candidate);
  }

  void reject(const std::vector<Candidate>& candidates) {
    for (const Candidate& candidate : candidates) {
      reject(candidate);
    }
  }

  void reject(const Candidate& candidate) {
    const Rehoming& first = candidate.changes.front();
    const Rehoming& last = candidate.changes.back();
    const Rejection rejection{candidate.reason,
                              snapshot_.clients[first.client].id,
                              now_.home(first.client),
                              first.to,
                              snapshot_.clients[last.client].id,
                              candidate.stopped_by.value_or(Guard::kNotBest),
                              candidate.effect.gain};
    if (std::ranges::find(plan_.rejections, rejection) == plan_.rejections.end()) {
      plan_.rejections.push_back(rejection);
    }
  }

  const Snapshot& snapshot_;
  const Options& options_;
  const Circumstances& circumstances_;
  Arrangement now_;
  Plan plan_;
  CpuTime lost_;  ///< with spills, after the actions so far
  CpuTime owed_;  ///< the part of it that owed_beside_spills() returns
  std::int64_t moves_ = 0;
  bool known_ = false;  ///< false: lost time, and how an action changes it, is unknown
  bool a_move_waits_ = false;
  std::size_t useless_ = 0;          ///< load moves and exchanges that do not pay now
  std::vector<NodeIndex> left_out_;  ///< the nodes of these
};

}  // namespace

Plan make_plan(const Snapshot& snapshot, const Options& options,
               const Circumstances& circumstances) {
  return Planner(snapshot, options, circumstances).make();
}

}  // namespace vmnuma::balancer
