// SPDX-License-Identifier: Apache-2.0
/// What planner.h and validator.h promise of every plan, on generated hosts.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "balancer/core/after_plan.h"
#include "balancer/core/planner.h"
#include "balancer/core/validator.h"
#include "placement/exclusive_cores.h"
#include "placement/memory_room.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::any_host;
using tests::plain_host;

std::string listed(const std::vector<std::string>& lines) {
  return std::accumulate(
      lines.begin(), lines.end(), std::string(),
      [](std::string all, const std::string& line) { return all + line + "\n"; });
}

std::vector<Action> moves_of(const Plan& plan) {
  std::vector<Action> moves;
  for (const Action& action : plan.actions) {
    if (action.reason != Reason::kInitialPlacement && action.reason != Reason::kMemoryPull) {
      moves.push_back(action);
    }
  }
  return moves;
}

/// A plan for the snapshot that breaks no rule.
Plan sound_plan(const Snapshot& snapshot, const Options& options) {
  const Plan plan = make_plan(snapshot, options, {});
  const std::vector<std::string> violations = violations_of(plan, snapshot, options, {});
  RC_TAG(std::min<std::size_t>(moves_of(plan).size(), 4));
  if (!violations.empty()) {
    RC_LOG() << listed(tests::actions_of(snapshot, plan)) << listed(violations);
  }
  RC_ASSERT(violations.empty());
  return plan;
}

RC_GTEST_PROP(PlannerProperty, NoPlanBreaksARule, ()) {
  const tests::AnyHost host = *any_host(16, 200);
  (void)sound_plan(host.snapshot(), host.options());
}

/// Makes about one in `every` VMs ask for cores of its own; one that finds them at home has them.
void give_cores(Snapshot& snapshot, std::int32_t every) {
  std::vector<std::int32_t> free;
  for (const Node& node : snapshot.topology.nodes) {
    free.push_back(node.core_count() - kCoresForOthers);
  }
  for (VmState& vm : snapshot.vms) {
    if (*rc::gen::inRange(0, every) > 0) {
      continue;
    }
    vm.policy.cpu_binding = CpuBinding::kExclusive;
    for (std::size_t i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
      ClientState& client = snapshot.clients[i];
      if (client.home == kNoNode) {
        continue;
      }
      const std::int32_t asked = cores_for(vm.policy.cpu_policy, client.vcpu_count(),
                                           snapshot.topology.nodes[client.home]);
      if (asked <= free[client.home]) {
        client.exclusive_cores = asked;
        free[client.home] -= asked;
      }
    }
  }
}

RC_GTEST_PROP(PlannerProperty, AVmWithCoresOfItsOwnFindsThemWhereItGoes, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  Snapshot snapshot = host.snapshot();
  give_cores(snapshot, *rc::gen::inRange(1, 4));
  (void)sound_plan(snapshot, host.options());
}

/// Makes VMs have huge pages, about one in `every`, from pools that may be too small for a move.
void give_huge_pages(Snapshot& snapshot, std::int32_t every) {
  for (Node& node : snapshot.topology.nodes) {
    node.huge_pages = {{kMiB * 2, *rc::gen::inRange<std::int64_t>(0, 50'000)}};
  }
  for (VmState& vm : snapshot.vms) {
    vm.huge_page_size = *rc::gen::inRange(0, every) > 0 ? Bytes{} : kMiB * 2;
  }
}

RC_GTEST_PROP(PlannerProperty, NoPlanPromisesHugePagesThatAreNotThere, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  Snapshot snapshot = host.snapshot();
  give_huge_pages(snapshot, *rc::gen::inRange(1, 4));
  const Plan plan = sound_plan(snapshot, host.options());
  // Those without readings count as at home, wherever that is.
  for (const ClientState& client : snapshot.clients) {
    if (!client.memory_known) {
      return;
    }
  }
  const MemoryRoom after(after_plan(snapshot, plan));
  const MemoryRoom before(snapshot);
  for (std::size_t client = 0; client < snapshot.clients.size(); ++client) {
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      RC_ASSERT(after.of(client, node) >= std::min(before.of(client, node), Bytes{}));
    }
  }
}

RC_GTEST_PROP(PlannerProperty, EqualInputGivesEqualPlan, ()) {
  const tests::AnyHost host = *any_host(16, 100);
  RC_ASSERT(make_plan(host.snapshot(), host.options(), {}) ==
            make_plan(host.snapshot(), host.options(), {}));
}

/// Turns aside, which are never done.
Options without_turns(const tests::AnyHost& host) {
  Options options = host.options();
  options.lterm_fairness_interval = 0;
  options.mig_prevent_lterm_thresh = 0;
  return options;
}

/// Every node has room for all memory there is: the planner does not weigh how much a move takes
/// from clients that stay, which would be news to a second plan.
void make_room(Snapshot& snapshot) {
  for (NodeState& node : snapshot.nodes) {
    node.free += kGiB * 10'000;
    node.total += kGiB * 10'000;
  }
}

RC_GTEST_PROP(PlannerProperty, ASecondPlanOnThePlannedResultIsEmpty, ()) {
  const tests::AnyHost host = *plain_host(8, 60);
  Snapshot snapshot = host.snapshot();
  make_room(snapshot);
  Options options = without_turns(host);
  options.migrations_per_epoch = 1000;
  options.spill_enable = 0;  // a VM of which a client moves does not spill until the next epoch
  options.residency = std::max<std::int64_t>(options.residency, 1);
  tests::run_and_share_out(snapshot, options);
  const Plan first = make_plan(snapshot, options, {});
  Snapshot after = after_plan(snapshot, first);
  tests::run_and_share_out(after, options);
  const Plan second = make_plan(after, options, {});
  RC_LOG() << listed(tests::actions_of(snapshot, first)) << "then\n"
           << listed(tests::actions_of(after, second));
  std::set<VmId> moved;
  for (const Action& action : moves_of(first)) {
    for (const Relocation& relocation : action.relocations) {
      moved.insert(relocation.client.vm);
    }
  }
  const bool parts_moved = std::any_of(
      snapshot.vms.begin(), snapshot.vms.end(),
      [&moved](const VmState& vm) { return vm.client_count > 1 && moved.contains(vm.id); });
  if (parts_moved) {
    return;  // its other clients had to wait, and others for them
  }
  RC_ASSERT(moves_of(second).empty());
  // A VM that moved with the first plan could not have the rest of its memory pulled by it.
  for (const Action& action : second.actions) {
    RC_ASSERT(moved.contains(action.relocations.front().client.vm));
  }
}

/// The epoch of the last move, if 100 follow in which nothing moves: longer than any guard bars a
/// move. Nothing if there is none within 1000 epochs.
std::optional<std::int64_t> epoch_of_last_move(const tests::AnyHost& host) {
  constexpr std::int64_t kLongerThanAnyGuard = 100;
  constexpr std::int64_t kMostEpochs = 1000;
  const Options options = without_turns(host);
  Snapshot snapshot = host.snapshot();
  std::int64_t last_move = 0;
  for (std::int64_t epoch = 0; epoch < kMostEpochs; ++epoch) {
    if (epoch - last_move > kLongerThanAnyGuard) {
      return last_move;
    }
    const Plan plan = make_plan(snapshot, options, {});
    last_move = moves_of(plan).empty() ? last_move : epoch;
    snapshot = tests::next_epoch(snapshot, plan, options);
  }
  return std::nullopt;
}

RC_GTEST_PROP(PlannerProperty, AHostUnderAConstantLoadComesToRest, ()) {
  RC_ASSERT(epoch_of_last_move(*any_host(8, 60)).has_value());
}

TEST(PlannerPropertyTest, SpillsThatPayOnlyWithOtherSpillsDoNotComeAndGo) {
  EXPECT_TRUE(epoch_of_last_move({.nodes = 4, .vms = 45, .seed = 539'236'323}).has_value());
}

/// An exchange that pays every fifteen epochs, with a move to a group in between: each leaves less
/// lost time than the one before.
TEST(PlannerPropertyTest, AHostThatNeedsManyExchangesTakesItsTimeAndComesToRest) {
  const auto last_move = epoch_of_last_move({.nodes = 2, .vms = 7, .seed = 2662});
  ASSERT_TRUE(last_move.has_value());
  EXPECT_GT(*last_move, 60);  // several of fifteen epochs each
}

std::set<VmId> vms_in(const Plan& plan) {
  std::set<VmId> vms;
  for (const Action& action : plan.actions) {
    for (const Relocation& relocation : action.relocations) {
      vms.insert(relocation.client.vm);
    }
  }
  return vms;
}

RC_GTEST_PROP(PlannerProperty, AStaleVmIsInNoActionButASpillOnceThatHasLasted, ()) {
  const tests::AnyHost host = *any_host(8, 40);
  Snapshot snapshot = host.snapshot();
  const auto every = *rc::gen::inRange(1, 6);
  for (std::size_t i = 0; i < snapshot.vms.size(); ++i) {
    snapshot.vms[i].fresh = snapshot.vms[i].fresh && i % static_cast<std::size_t>(every) > 0;
  }
  const Plan plan = make_plan(snapshot, host.options(), {});
  for (const Action& action : plan.actions) {
    for (const Relocation& relocation : action.relocations) {
      const auto client = index_of(snapshot, relocation.client);
      const VmState& vm = snapshot.vms[snapshot.clients[client].vm];
      RC_ASSERT(vm.fresh || (action.reason == Reason::kSpill && vm.epochs_stale >= kUnreadForLong));
    }
  }
}

/// VMs that are in no action become unreadable, and nothing changes. That holds where every
/// candidate is tried. Swaps, sets of moves and turns are looked for among a few likely clients:
/// one that cannot be read makes room there for others, and a plan may have other actions for it.
RC_GTEST_PROP(PlannerProperty, StaleDataOnlyTakesMovesAway, ()) {
  const tests::AnyHost host = *plain_host(4, 8);
  Snapshot snapshot = host.snapshot();
  Options options = without_turns(host);
  options.swap_load_enable = 0;  // nor sets of moves
  const Plan plan = make_plan(snapshot, options, {});
  const std::set<VmId> busy = vms_in(plan);
  for (VmState& vm : snapshot.vms) {
    vm.fresh = busy.contains(vm.id);
  }
  RC_ASSERT(make_plan(snapshot, options, {}).actions == plan.actions);
  for (VmState& vm : snapshot.vms) {
    vm.fresh = false;
  }
  RC_ASSERT(make_plan(snapshot, options, {}).actions.empty());
}

RC_GTEST_PROP(PlannerProperty, UnknownNodesAreNeitherLeftNorEntered, ()) {
  const tests::AnyHost host = *any_host(6, 40);
  Snapshot snapshot = host.snapshot();
  for (NodeState& node : snapshot.nodes) {
    node.known = false;
  }
  RC_ASSERT(make_plan(snapshot, host.options(), {}).actions.empty());
}

RC_GTEST_PROP(PlannerProperty, OneNodeGivesNoMoves, ()) {
  const tests::AnyHost host = *any_host(1, 50);
  RC_ASSERT(moves_of(make_plan(host.snapshot(), host.options(), {})).empty());
}

RC_GTEST_PROP(PlannerProperty, AnOpenBreakerOrASwitchedOffBalancerMovesNothing, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  Options options = host.options();
  RC_ASSERT(moves_of(make_plan(host.snapshot(), options, {kNoNode, true})).empty());
  options.rebalance_enable = 0;
  RC_ASSERT(make_plan(host.snapshot(), options, {}).actions.empty());
}

/// Kernel numbers and ids are only names: other ones in the same order change nothing else.
RC_GTEST_PROP(PlannerProperty, OtherNumbersInTheSameOrderGiveTheSamePlan, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  Snapshot snapshot = host.snapshot();
  const Plan plan = make_plan(snapshot, host.options(), {});
  for (Node& node : snapshot.topology.nodes) {
    node.id.value = node.id.value * 7 + 5;
  }
  const auto renamed = [](VmId id) {
    id.uuid[0] = 0x80;
    return id;
  };
  for (VmState& vm : snapshot.vms) {
    vm.id = renamed(vm.id);
  }
  for (ClientState& client : snapshot.clients) {
    client.id.vm = renamed(client.id.vm);
  }
  for (Chat& chat : snapshot.chats) {
    chat.a = renamed(chat.a);
    chat.b = renamed(chat.b);
  }
  const Plan other = make_plan(snapshot, host.options(), {});
  RC_ASSERT(other.actions.size() == plan.actions.size());
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    Action expected = plan.actions[i];
    for (Relocation& relocation : expected.relocations) {
      relocation.client.vm = renamed(relocation.client.vm);
    }
    RC_ASSERT(other.actions[i] == expected);
  }
}

/// The snapshot with node `i` called `order[i]`.
Snapshot with_nodes_in_order(const Snapshot& snapshot, const std::vector<NodeIndex>& order) {
  Snapshot result = snapshot;
  const std::size_t nodes = order.size();
  for (NodeIndex i = 0; i < nodes; ++i) {
    result.nodes[order[i]] = snapshot.nodes[i];
    const NodeId id = result.topology.nodes[order[i]].id;
    result.topology.nodes[order[i]] = snapshot.topology.nodes[i];
    result.topology.nodes[order[i]].id = id;
    for (NodeIndex j = 0; j < nodes; ++j) {
      result.topology.distances[order[i] * nodes + order[j]] = snapshot.topology.distance(i, j);
    }
  }
  for (std::size_t c = 0; c < snapshot.clients.size(); ++c) {
    ClientState& client = result.clients[c];
    const auto renumber = [&](NodeIndex& node) { node = node == kNoNode ? kNoNode : order[node]; };
    renumber(client.home);
    renumber(client.came_from);
    for (NodeIndex& node : client.allowed) {
      renumber(node);
    }
    std::sort(client.allowed.begin(), client.allowed.end());
    for (NodeIndex i = 0; i < nodes; ++i) {
      client.memory[order[i]] = snapshot.clients[c].memory[i];
    }
  }
  return result;
}

/// Of candidates that are worth exactly the same the first is taken, so only the worth is certain.
RC_GTEST_PROP(PlannerProperty, RenumberedNodesGiveAPlanThatBeginsAsWell, ()) {
  const tests::AnyHost host = *plain_host(4, 12);
  const Options options = host.options();
  const Snapshot snapshot = host.snapshot();
  std::vector<NodeIndex> order(snapshot.nodes.size());
  std::iota(order.rbegin(), order.rend(), NodeIndex{0});
  const Plan plan = make_plan(snapshot, options, {});
  const Plan other = make_plan(with_nodes_in_order(snapshot, order), options, {});
  RC_LOG() << listed(tests::actions_of(snapshot, plan)) << "against\n"
           << listed(tests::actions_of(snapshot, other));
  RC_ASSERT(plan.lost == other.lost);
  RC_ASSERT(plan.imbalance == other.imbalance);
  RC_ASSERT(plan.actions.empty() == other.actions.empty());
  if (!plan.actions.empty()) {
    const auto benefit = [&](const Action& action) {
      return action.predicted.gain_at_home.value * options.move_horizon -
             action.predicted.cost.value;
    };
    RC_ASSERT(plan.actions.front().reason == other.actions.front().reason);
    RC_ASSERT(benefit(plan.actions.front()) == benefit(other.actions.front()));
  }
}

}  // namespace
}  // namespace vmnuma::balancer
