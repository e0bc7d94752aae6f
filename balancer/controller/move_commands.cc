// SPDX-License-Identifier: Apache-2.0
// The controller's answers to `move` and `move-together`. The administrator may order moves that
// the planner would not make: guards that only keep the host calm are ignored, but masks, hard
// groups and room are respected.
#include "balancer/controller/move_commands.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "balancer/controller/actions.h"
#include "balancer/controller/commands.h"
#include "balancer/controller/views.h"
#include "balancer/core/guards.h"
#include "balancer/core/spill.h"
#include "placement/arrangement.h"

namespace vmnuma::balancer {

namespace {

/// The same, if the client can be moved there now.
Result<Rehoming> possible_rehoming(const ControllerState& state, const Snapshot& snapshot,
                                   const MoveRequest& asked) {
  VMNUMA_ASSIGN_OR_RETURN(const auto move, rehoming_of(state, snapshot, asked));
  const ClientState& client = snapshot.clients[move.client];
  const VmState& vm = snapshot.vms[client.vm];
  if (!vm.fresh || client.moving) {
    return failure(ErrorCode::kBusy,
                   fmt::format("VM '{}' cannot be moved now: {}", asked.vm,
                               client.moving ? "it is being moved" : vm.stale_because));
  }
  if (client.home == move.to) {
    return refused(fmt::format("VM '{}' lives on node {} already", asked.vm, asked.node.value));
  }
  return move;
}

/// "VM 'a' to node 1, VM 'b' to node 0"
std::string moves_text(const Snapshot& snapshot, const std::vector<Rehoming>& moves) {
  std::string text;
  for (const Rehoming& move : moves) {
    text += fmt::format("{}VM '{}' to node {}", text.empty() ? "" : ", ",
                        snapshot.vms[snapshot.clients[move.client].vm].name,
                        snapshot.topology.nodes[move.to].id.value);
  }
  return text;
}

/// Orders the moves. Whatever would be refused is refused in every mode, so that trying a command
/// in dry-run shows it.
Result<DoneView> order_moves(ControllerState& state, const Snapshot& snapshot,
                             const std::vector<Rehoming>& moves, Effects& effects) {
  return moves_together(snapshot, state.setup.options, moves, Reason::kAdministrator)
      .and_then([&](const Action& action) -> Result<DoneView> {
        if (!state.acts()) {
          return failure(
              ErrorCode::kUnsupported,
              fmt::format(
                  "the daemon is in mode {}, nothing is moved; in mode active it would move {}",
                  name_of(state.mode()), moves_text(snapshot, moves)));
        }
        const std::int64_t number = state.orders.next();
        give_order(state, action, effects);
        return DoneView{"moving " + moves_text(snapshot, moves), number};
      });
}

}  // namespace

Result<Rehoming> rehoming_of(const ControllerState& state, const Snapshot& snapshot,
                             const MoveRequest& asked) {
  VMNUMA_ASSIGN_OR_RETURN(const auto vm, state.find_vm(asked.vm));
  const std::size_t clients = vm->clients.size();
  if (!asked.client && clients > 1) {
    return refused(fmt::format("VM '{}' has {} clients, say which one", asked.vm, clients));
  }
  const ClientId id{vm->description.id, asked.client.value_or(0)};
  const ClientState* client = find_client(snapshot, id);
  if (client == nullptr) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("VM '{}' has no client {}", asked.vm, id.index));
  }
  const std::optional<NodeIndex> to = snapshot.topology.index_of(asked.node);
  if (!to || !snapshot.topology.can_be_home(*to)) {
    return refused(fmt::format("node {} cannot be a home on this host", asked.node.value));
  }
  return Rehoming{static_cast<ClientIndex>(client - snapshot.clients.data()), *to};
}

Result<Action> moves_together(const Snapshot& snapshot, const Options& options,
                              const std::vector<Rehoming>& moves, Reason reason) {
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const auto name = [&](const Rehoming& move) {
    return snapshot.vms[snapshot.clients[move.client].vm].name;
  };
  const auto node = [&](const Rehoming& move) { return snapshot.topology.nodes[move.to].id.value; };
  for (std::size_t i = 0; i < moves.size(); ++i) {
    // The other clients as they will be at the time of this move.
    Arrangement others = now;
    for (std::size_t other = 0; other < moves.size(); ++other) {
      if (other != i) {
        others.apply({&moves[other], 1});
      }
    }
    // Here only guards that policies set; check_targets() may report these after others.
    const std::vector<NodeIndex>& allowed = snapshot.clients[moves[i].client].allowed;
    const std::optional<Guard> guard = !std::ranges::binary_search(allowed, moves[i].to)
                                           ? std::optional(Guard::kNotAllowed)
                                       : others.forbidden_by_group(moves[i].client, moves[i].to, {})
                                           ? std::optional(Guard::kAntiAffinity)
                                           : std::nullopt;
    if (guard) {
      return refused(fmt::format("VM '{}' may not live on node {}: {}", name(moves[i]),
                                 node(moves[i]), guard_text(*guard, options)));
    }
  }
  const Effect effect = now.effect_of(moves);
  if (!effect.fits) {
    return failure(
        ErrorCode::kNoSpace,
        moves.size() == 1
            ? fmt::format("node {} has no room for the memory of VM '{}'", node(moves[0]),
                          name(moves[0]))
            : "the nodes have no room for the memory of these VMs, even if all go together");
  }
  Action action{reason, {}, {}};
  for (const Rehoming& move : moves) {
    const ClientState& client = snapshot.clients[move.client];
    const MemoryProfile& memory = now.memory(move.client);
    action.relocations.push_back(
        {client.id, client.home, move.to, memory.can_follow ? memory.not_on(move.to) : Bytes{}});
  }
  Arrangement then = now;
  then.apply(moves);
  action.predicted.known = is_measured(snapshot);
  action.predicted.lost_before = lost_beside_spills(now);
  action.predicted.lost_after = lost_beside_spills(then);
  action.predicted.gain_at_home = effect.gain;
  action.predicted.cost = std::max(effect.cost, CpuTime{});
  return action;
}

Result<DoneView> carry_out(ControllerState& state, const MoveRequest& request, Effects& effects) {
  const Snapshot snapshot = state.since_the_plan();
  VMNUMA_ASSIGN_OR_RETURN(const auto move, possible_rehoming(state, snapshot, request));
  return order_moves(state, snapshot, {move}, effects);
}

Result<DoneView> carry_out(ControllerState& state, const MoveTogetherRequest& request,
                           Effects& effects) {
  const Snapshot snapshot = state.since_the_plan();
  if (request.moves.empty() || request.moves.size() > Arrangement::kMostTogether) {
    return refused(fmt::format("1 to {} clients may move together, not {}",
                               Arrangement::kMostTogether, request.moves.size()));
  }
  std::vector<Rehoming> moves;
  std::set<ClientIndex> clients;
  for (const MoveTogetherRequest::ClientMove& asked : request.moves) {
    VMNUMA_ASSIGN_OR_RETURN(const auto move,
                            possible_rehoming(state, snapshot, {asked.vm, asked.to, asked.client}));
    const NodeIndex home = snapshot.clients[move.client].home;
    if (snapshot.topology.index_of(asked.from) != std::optional(home)) {
      return failure(ErrorCode::kBusy, fmt::format("VM '{}' does not live on node {} any more",
                                                   asked.vm, asked.from.value));
    }
    if (!clients.insert(move.client).second) {
      return refused(fmt::format("VM '{}' cannot go to two nodes at once", asked.vm));
    }
    moves.push_back(move);
  }
  return order_moves(state, snapshot, moves, effects);
}

}  // namespace vmnuma::balancer
