// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/planner.h"

#include <algorithm>

#include "balancer/core/search.h"

namespace vmnuma::balancer {

using placement::Action;
using placement::Arrangement;
using placement::Bytes;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuTime;
using placement::Guard;
using placement::HomeChoice;
using placement::kNoNode;
using placement::NodeIndex;
using placement::Options;
using placement::Permille;
using placement::Plan;
using placement::Reason;
using placement::Rehoming;
using placement::Rejection;
using placement::Relocation;
using placement::Snapshot;
using placement::VmState;

namespace {

constexpr std::size_t kMostRejections = 64;
/// Less remote memory than this is not worth a transfer.
constexpr Bytes kLeastPull{4 * placement::kMiB.value};
constexpr std::int64_t kLeastPullPermille = 20;
/// How long after a transfer that left pages behind these are tried again.
constexpr std::int64_t kPullAgainAfter = 30;

/// Local share of the memory of the clients that move, taken together.
Permille locality_of(const Arrangement& arrangement, const std::vector<Rehoming>& changes,
                     bool after) {
  Bytes local;
  Bytes all;
  for (const Rehoming& change : changes) {
    const placement::MemoryProfile& memory = arrangement.memory(change.client);
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

bool epoch_is_due(std::int64_t epoch, std::int64_t interval) {
  return interval > 0 && epoch % interval == 0;
}

class Planner {
 public:
  Planner(const Snapshot& snapshot, const Options& options, const Circumstances& circumstances)
      : snapshot_(snapshot),
        options_(options),
        circumstances_(circumstances),
        now_(snapshot, options, Arrangement::Basis::kDemand) {
    plan_.epoch = snapshot.epoch;
    plan_.lost = now_.lost();
    plan_.imbalance = now_.imbalance();
    lost_ = plan_.lost;
  }

  Plan make() {
    if (options_.rebalance_enable == 0) {
      return std::move(plan_);
    }
    place();
    if (!host_is_large_enough() || circumstances_.breaker_open) {
      refuse_all(circumstances_.breaker_open ? Guard::kBreaker : Guard::kDisabled);
    } else {
      balance_load();
      take_turns();
      keep_groups();
      improve_locality();
    }
    pull_memory();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool host_is_large_enough() const {
    std::int64_t total = 0;
    std::int64_t homes = 0;
    std::int64_t smallest = 0;
    for (NodeIndex node = 0; node < snapshot_.nodes.size(); ++node) {
      if (!snapshot_.topology.can_be_home(node)) {
        continue;
      }
      const std::int64_t cores = snapshot_.topology.nodes[node].core_count();
      smallest = homes == 0 ? cores : std::min(smallest, cores);
      total += cores;
      ++homes;
    }
    return homes >= 2 && total >= options_.rebalance_cores_total &&
           smallest >= options_.rebalance_cores_node;
  }

  /// Says for what was worth doing why it is not done at all.
  void refuse_all(Guard guard) {
    Considered considered;
    consider_load_moves(now_, considered);
    if (considered.best()) {
      Candidate candidate = *considered.best();
      candidate.stopped_by = guard;
      reject(candidate);
    }
  }

  void place() {
    // Wide and busy VMs first: what is left over fits small ones more easily.
    std::vector<std::size_t> vms;
    for (std::size_t i = 0; i < snapshot_.vms.size(); ++i) {
      const VmState& vm = snapshot_.vms[i];
      bool homeless = false;
      for (ClientIndex c = vm.first_client; c < vm.first_client + vm.client_count; ++c) {
        homeless = homeless || snapshot_.clients[c].home == kNoNode;
      }
      if (homeless && vm.fresh) {
        vms.push_back(i);
      }
    }
    if (vms.empty()) {
      return;
    }
    const auto load_of = [&](std::size_t vm) {
      CpuTime load;
      for (std::size_t i = 0; i < snapshot_.vms[vm].client_count; ++i) {
        load += snapshot_.clients[snapshot_.vms[vm].first_client + i].load;
      }
      return load;
    };
    std::stable_sort(vms.begin(), vms.end(),
                     [&](std::size_t a, std::size_t b) { return load_of(a) > load_of(b); });
    Arrangement by_load(snapshot_, options_, Arrangement::Basis::kLoad);
    NodeIndex round_robin = circumstances_.last_placed_on;
    for (const std::size_t vm : vms) {
      const std::vector<HomeChoice> choices = choose_homes(
          by_load, snapshot_.vms[vm].first_client, snapshot_.vms[vm].client_count, round_robin);
      std::vector<Rehoming> changes;
      for (const HomeChoice& choice : choices) {
        changes.push_back({choice.client, choice.home});
      }
      if (!changes.empty()) {
        const placement::Effect effect = now_.effect_of(changes);
        take({Reason::kInitialPlacement, changes, effect, CpuTime{}, std::nullopt});
      }
    }
  }

  void balance_load() {
    while (now_.imbalance().value >= options_.mig_imbalance_threshold * 10) {
      Considered moves;
      consider_load_moves(now_, moves);
      if (moves.best()) {
        // A swap is not tried where a move will do, even if moves are due only in the next epoch.
        if (!epoch_is_due(snapshot_.epoch, options_.swap_migrate_only) ||
            !take_or_defer(*moves.best())) {
          return;
        }
        continue;
      }
      reject(moves.stopped());
      Considered others;
      if (epoch_is_due(snapshot_.epoch, options_.swap_interval) && options_.swap_load_enable != 0) {
        consider_load_swaps(now_, others);
        if (!others.best()) {
          reject(others.stopped());
          others = Considered();
          consider_chains(now_, others);
        }
      }
      if (!others.best() || !take_or_defer(*others.best())) {
        return;
      }
    }
  }

  void take_turns() {
    if (!epoch_is_due(snapshot_.epoch, options_.lterm_fairness_interval) || moved_something_) {
      return;
    }
    Considered considered;
    consider_long_term(now_, considered);
    if (considered.best()) {
      take_or_defer(*considered.best());
    } else {
      reject(considered.stopped());
    }
  }

  void keep_groups() {
    while (true) {
      Considered considered;
      consider_group_moves(now_, considered);
      if (!considered.best()) {
        reject(considered.stopped());
        return;
      }
      if (!take_or_defer(*considered.best())) {
        return;
      }
    }
  }

  void improve_locality() {
    while (now_.imbalance().value < options_.mig_imbalance_threshold * 10) {
      Considered considered;
      consider_locality_moves(now_, considered);
      if (!considered.best() && epoch_is_due(snapshot_.epoch, options_.swap_interval)) {
        consider_locality_swaps(now_, considered);
      }
      if (!considered.best()) {
        reject(considered.stopped());
        return;
      }
      if (!take_or_defer(*considered.best())) {
        return;
      }
    }
  }

  void pull_memory() {
    for (const VmState& vm : snapshot_.vms) {
      if (!vm.fresh || vm.transferring || !vm.memory_stays_because.empty() ||
          options_.page_mig_enable == 0) {
        continue;
      }
      Action pull{Reason::kMemoryPull, {}, {}};
      Bytes resident;
      Bytes remote;
      bool settled = true;
      std::vector<Rehoming> stay;
      for (ClientIndex c = vm.first_client; c < vm.first_client + vm.client_count; ++c) {
        const placement::MemoryProfile& memory = now_.memory(c);
        const NodeIndex home = snapshot_.clients[c].home;
        settled = settled && home != kNoNode && now_.home(c) == home && memory.can_follow &&
                  !snapshot_.clients[c].moving;
        if (!settled) {
          break;
        }
        const Bytes away = memory.not_on(home);
        resident += memory.resident;
        remote += away;
        if (away > Bytes{} && now_.room(home) > Bytes{}) {
          pull.relocations.push_back({snapshot_.clients[c].id, home, home, away});
          stay.push_back({c, home});
        }
      }
      const Bytes least = std::max(kLeastPull, resident * kLeastPullPermille / 1000);
      const Bytes already_tried =
          vm.epochs_since_transfer < kPullAgainAfter ? vm.left_behind : Bytes{};
      if (!settled || pull.relocations.empty() || remote < least + already_tried) {
        continue;
      }
      pull.predicted.lost_before = pull.predicted.lost_after = lost_;
      pull.predicted.imbalance_before = pull.predicted.imbalance_after = now_.imbalance();
      pull.predicted.locality_before = locality_of(now_, stay, /*after=*/false);
      pull.predicted.locality_after = Permille{1000};
      plan_.actions.push_back(std::move(pull));
    }
  }

  /// Makes the candidate an action, or says that it has to wait for the next epoch.
  bool take_or_defer(Candidate candidate) {
    if (moves_ >= options_.migrations_per_epoch) {
      candidate.stopped_by = Guard::kActionLimit;
      reject(candidate);
      return false;
    }
    ++moves_;
    moved_something_ = true;
    take(candidate);
    return true;
  }

  void take(const Candidate& candidate) {
    Action action{candidate.reason, {}, {}};
    for (const Rehoming& change : candidate.changes) {
      action.relocations.push_back(
          {snapshot_.clients[change.client].id, now_.home(change.client), change.to,
           now_.memory(change.client).can_follow ? now_.memory(change.client).not_on(change.to)
                                                 : Bytes{}});
    }
    placement::Prediction& predicted = action.predicted;
    predicted.lost_before = lost_;
    lost_ = std::max(lost_ - candidate.effect.gain, CpuTime{});
    predicted.lost_after = lost_;
    predicted.cost = std::max(candidate.effect.cost, CpuTime{});
    predicted.imbalance_before = now_.imbalance();
    predicted.locality_before = locality_of(now_, candidate.changes, /*after=*/false);
    predicted.locality_after = locality_of(now_, candidate.changes, /*after=*/true);
    now_.apply(candidate.changes);
    predicted.imbalance_after = now_.imbalance();
    plan_.actions.push_back(std::move(action));
  }

  void reject(const std::vector<Candidate>& candidates) {
    for (const Candidate& candidate : candidates) {
      reject(candidate);
    }
  }

  void reject(const Candidate& candidate) {
    if (plan_.rejections.size() >= kMostRejections) {
      return;
    }
    const Rehoming& first = candidate.changes.front();
    const Rehoming& last = candidate.changes.back();
    const Rejection rejection{candidate.reason,
                              snapshot_.clients[first.client].id,
                              now_.home(first.client),
                              first.to,
                              snapshot_.clients[last.client].id,
                              candidate.stopped_by.value_or(Guard::kNotBest),
                              candidate.effect.gain};
    if (std::find(plan_.rejections.begin(), plan_.rejections.end(), rejection) ==
        plan_.rejections.end()) {
      plan_.rejections.push_back(rejection);
    }
  }

  const Snapshot& snapshot_;
  const Options& options_;
  const Circumstances& circumstances_;
  Arrangement now_;
  Plan plan_;
  CpuTime lost_;
  std::int64_t moves_ = 0;
  bool moved_something_ = false;
};

}  // namespace

Plan make_plan(const Snapshot& snapshot, const Options& options,
               const Circumstances& circumstances) {
  return Planner(snapshot, options, circumstances).make();
}

Snapshot after_plan(Snapshot snapshot, const Plan& plan) {
  for (const Action& action : plan.actions) {
    for (const Relocation& relocation : action.relocations) {
      const auto client = std::lower_bound(
          snapshot.clients.begin(), snapshot.clients.end(), relocation.client,
          [](const ClientState& entry, const placement::ClientId& id) { return entry.id < id; });
      if (client == snapshot.clients.end() || client->id != relocation.client) {
        continue;
      }
      if (client->home != relocation.to) {
        client->came_from = client->home;
        client->epochs_here = 0;
        client->home = relocation.to;
      }
      if (relocation.memory > Bytes{} && client->memory_known) {
        for (NodeIndex node = 0; node < client->memory.size(); ++node) {
          if (node == relocation.to) {
            continue;
          }
          const Bytes room = std::max(
              snapshot.nodes[relocation.to].free - snapshot.nodes[relocation.to].reserve, Bytes{});
          const Bytes moved = std::min(client->memory[node], room);
          client->memory[node] -= moved;
          client->memory[relocation.to] += moved;
          snapshot.nodes[node].free += moved;
          snapshot.nodes[relocation.to].free -= moved;
        }
        VmState& vm = snapshot.vms[client->vm];
        vm.left_behind = Bytes{};
      }
    }
  }
  return snapshot;
}

}  // namespace vmnuma::balancer
