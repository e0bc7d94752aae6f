// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/what_if.h"

#include <algorithm>
#include <utility>

#include "balancer/core/averages.h"
#include "balancer/core/entitlement.h"
#include "balancer/core/spill.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

namespace {

Standing standing_of(const Snapshot& snapshot, const Options& options) {
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  Bytes local;
  Bytes all;
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode && client.memory_known) {
      all += sum_of(client.memory);
      local += client.local_memory();
    }
  }
  return {lost_with_present_spills(arrangement), arrangement.imbalance(),
          all > Bytes{} ? std::optional(permille_of(local.value, all.value, Permille{}))
                        : std::nullopt};
}

/// Advances to the next epoch, with everything measured again as it was.
void let_an_epoch_pass(Snapshot& snapshot, const Options& options) {
  ++snapshot.epoch;
  const auto most =
      static_cast<std::size_t>(std::max<std::int64_t>(options.lterm_fairness_interval - 1, 0));
  for (ClientState& client : snapshot.clients) {
    ++client.epochs_here;
    ++client.epochs_since_swap;
    client.owed_before.insert(client.owed_before.begin(), client.owed);
    client.owed_before.resize(std::min(client.owed_before.size(), most));
    client.owed_on_average = averaged(client.owed_on_average, client.owed, snapshot.epoch_length,
                                      fairness_half_life(options, snapshot.epoch_length));
  }
  for (VmState& vm : snapshot.vms) {
    ++vm.epochs_since_transfer;
    ++vm.epochs_rested;
  }
}

/// Applies what the ledger derives from options. A supposed price of remote memory applies to every
/// VM.
void take_options(Snapshot& snapshot, const Options& options, bool sets_price) {
  for (VmState& vm : snapshot.vms) {
    if (sets_price) {
      vm.counted_stall.reset();
    }
    vm.stall = stall_of(vm.policy, vm.counted_stall, options);
  }
  for (NodeState& node : snapshot.nodes) {
    node.reserve = std::max(node.total * options.node_reserve_pct / 100, node.reserved) +
                   reservations_of(node, Bytes{});
  }
}

/// Applies all moves at once, so that two clients that change places find each other's room.
Snapshot move_clients(Snapshot snapshot, const std::vector<ClientMove>& moves,
                      const Options& options) {
  Action action{Reason::kAdministrator};
  for (const ClientMove& move : moves) {
    const auto client = std::ranges::find(snapshot.clients, move.client, &ClientState::id);
    if (client == snapshot.clients.end()) {
      continue;
    }
    const MemoryProfile memory = memory_profile(snapshot, *client, options);
    action.relocations.push_back(
        {client->id, client->home, move.to, memory.can_follow ? memory.not_on(move.to) : Bytes{}});
  }
  Plan plan;
  plan.actions.push_back(std::move(action));
  return after_plan(std::move(snapshot), plan);
}

}  // namespace

void remove_vm(Snapshot& snapshot, const VmId& id) {
  const auto vm = std::ranges::find(snapshot.vms, id, &VmState::id);
  if (vm == snapshot.vms.end()) {
    return;
  }
  const auto first = snapshot.clients.begin() + static_cast<std::ptrdiff_t>(vm->first_client);
  const auto last = first + static_cast<std::ptrdiff_t>(vm->client_count);
  for (auto client = first; client != last; ++client) {
    // Huge pages return to their pools, whose room is computed from the VMs that have them.
    const bool is_ordinary = page_size_of(snapshot, *client) == Bytes{};
    for (NodeIndex node = 0; is_ordinary && node < client->memory.size(); ++node) {
      snapshot.nodes[node].free += client->memory[node];
    }
  }
  snapshot.clients.erase(first, last);
  for (auto later = std::next(vm); later != snapshot.vms.end(); ++later) {
    later->first_client -= vm->client_count;
  }
  snapshot.vms.erase(vm);
  for (std::size_t v = 0; v < snapshot.vms.size(); ++v) {
    for (ClientState& client : clients_of(snapshot, snapshot.vms[v])) {
      client.vm = v;
    }
  }
}

WhatIf what_if(const Snapshot& now, const Options& options, const Supposition& supposition,
               const Circumstances& circumstances) {
  WhatIf answer;
  answer.before = standing_of(now, options);
  Snapshot& supposed = answer.supposed;
  supposed = now;
  let_an_epoch_pass(supposed, supposition.options);
  take_options(supposed, supposition.options,
               supposition.options.mem_stall_pct != options.mem_stall_pct);
  for (const VmId& id : supposition.removed) {
    remove_vm(supposed, id);
  }
  supposed = move_clients(std::move(supposed), supposition.moved, supposition.options);
  Circumstances then = circumstances;
  for (const NewVm& vm : supposition.added) {
    add_vm(supposed, vm, supposition.options);
    share_out(supposed, supposition.options);
    std::vector<NewHome> homes =
        place_vm(supposed, vm.description.id, supposition.options, then.last_placed_on);
    answer.homes.insert(answer.homes.end(), std::make_move_iterator(homes.begin()),
                        std::make_move_iterator(homes.end()));
  }
  share_out(supposed, supposition.options);
  answer.after = standing_of(supposed, supposition.options);
  answer.plan = make_plan(supposed, supposition.options, then);
  return answer;
}

}  // namespace vmnuma::balancer
