// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/validator_rules.h"

#include <algorithm>

namespace vmnuma::balancer {

std::string client_name(const Snapshot& snapshot, ClientIndex client) {
  const ClientState& state = snapshot.clients[client];
  return "'" + snapshot.vms[state.vm].name + "'/" + std::to_string(state.id.index);
}

namespace {

bool is_large_enough(const Snapshot& snapshot, const Options& options) {
  std::int64_t cores = 0;
  std::int64_t homes = 0;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    if (snapshot.topology.can_be_home(node)) {
      const std::int32_t here = snapshot.topology.nodes[node].core_count();
      if (here < options.rebalance_cores_node) {
        return false;
      }
      cores += here;
      ++homes;
    }
  }
  return homes > 1 && cores >= options.rebalance_cores_total;
}

/// Returns the most that the clients of one node were owed over minutes, relative to its capacity.
Permille most_owed_for_minutes(const Snapshot& snapshot) {
  Permille most{};
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    CpuTime owed;
    for (const ClientState& client : snapshot.clients) {
      owed += client.home == node ? client.owed_on_average : CpuTime{};
    }
    most = std::max(most, permille_of(owed.value, snapshot.nodes[node].capacity.value, Permille{}));
  }
  return most;
}

}  // namespace

std::vector<std::string> broken_by_time(const Action& action, const Snapshot& snapshot,
                                        const Options& options,
                                        const Circumstances& circumstances) {
  std::vector<std::string> broken;
  const Reason reason = action.reason;
  if (!moves_a_home(reason)) {
    return broken;
  }
  const auto check = [&broken](bool holds, const char* text) {
    if (!holds) {
      broken.emplace_back(text);
    }
  };
  const auto is_due = [&snapshot](std::int64_t interval) {
    return interval > 0 && snapshot.epoch % interval == 0;
  };
  // Or the load is only present between the epochs that are due, and has been before.
  const auto is_due_for_load = [&](std::int64_t interval) {
    const auto owed = [&snapshot](std::int64_t epochs_ago) {
      std::int64_t sum = 0;
      for (const ClientState& client : snapshot.clients) {
        const bool known = epochs_ago <= static_cast<std::int64_t>(client.owed_before.size());
        sum += epochs_ago == 0 ? client.owed.value
               : known         ? client.owed_before[static_cast<std::size_t>(epochs_ago - 1)].value
                               : 0;
      }
      return sum;
    };
    std::int64_t remembered = 0;
    for (const ClientState& client : snapshot.clients) {
      remembered = std::max(remembered, static_cast<std::int64_t>(client.owed_before.size()));
    }
    std::int64_t most_before = 0;
    const std::int64_t last_due = interval > 0 ? snapshot.epoch % interval : 0;
    for (std::int64_t ago = last_due + 1; ago <= remembered; ++ago) {
      most_before = std::max(most_before, owed(ago));
    }
    return is_due(interval) || (interval > 0 && last_due <= remembered &&
                                2 * owed(last_due) <= owed(0) && 2 * most_before > owed(0));
  };
  const bool is_single = action.relocations.size() == 1;

  check(!circumstances.breaker_open, "the circuit breaker is open");
  check(is_large_enough(snapshot, options),
        "the host is smaller than Numa.RebalanceCoresTotal or Numa.RebalanceCoresNode");
  if (reason == Reason::kLoadMove && is_single) {
    check(is_due_for_load(options.swap_migrate_only),
          "Numa.SwapMigrateOnly does not let it in this epoch");
  }
  if (reason == Reason::kLoadMove && !is_single) {
    check(options.swap_migrate_only > 0, "Numa.SwapMigrateOnly is 0");
  }
  if (is_a_turn(reason)) {
    check(is_due(options.lterm_fairness_interval),
          "Numa.LTermFairnessInterval does not let it in this epoch");
  }
  if (reason == Reason::kLocalitySwap) {
    check(is_due(options.swap_interval), "Numa.SwapInterval does not let it in this epoch");
  }
  if (is_for_load(reason) && !is_single) {
    check(is_due_for_load(options.swap_interval),
          "Numa.SwapInterval does not let it in this epoch");
  }
  if (reason == Reason::kLocalitySwap) {
    check(options.swap_locality_enable != 0, "Numa.SwapLocalityEnable is 0");
  }
  if ((is_for_load(reason) || is_a_turn(reason)) && !is_single) {
    check(options.swap_load_enable != 0, "Numa.SwapLoadEnable is 0");
  }
  const std::int64_t imbalance = action.predicted.imbalance_before.value;
  const std::int64_t enough = options.mig_imbalance_threshold * 10;
  const bool may_be_smaller =
      options.shortage_half_life > 0 && most_owed_for_minutes(snapshot).value * 3 >= enough;
  const bool is_imbalanced = (may_be_smaller ? imbalance * 3 : imbalance) >= enough;
  if (is_for_load(reason)) {
    check(is_imbalanced, "the imbalance is below Numa.MigImbalanceThreshold");
  }
  if (is_for_locality(reason)) {
    check(options.locality_weight_mem != 0, "Numa.LocalityWeightMem is 0");
  }
  return broken;
}

std::vector<std::string> broken_by_client(Reason reason, ClientIndex index, NodeIndex to,
                                          const Snapshot& snapshot, const Options& options) {
  std::vector<std::string> broken;
  const ClientState& client = snapshot.clients[index];
  const VmState& vm = snapshot.vms[client.vm];
  const auto check = [&](bool holds, const std::string& text) {
    if (!holds) {
      broken.push_back(client_name(snapshot, index) + " " + text);
    }
  };

  check(vm.fresh || (reason == Reason::kSpill && vm.epochs_stale >= kUnreadForLong),
        "has no readings");
  check(snapshot.nodes[to].known, "goes to a node without readings");
  if (reason == Reason::kMemoryPull) {
    check(!client.moving, "is being moved already");
    check(!vm.transferring && vm.epochs_since_transfer > kEpochsUntilCounted,
          "has pages under way");
    return broken;
  }
  check(reason == Reason::kSpill || std::ranges::find(client.allowed, to) != client.allowed.end(),
        "goes to a node that it may not use");
  if (reason == Reason::kInitialPlacement) {
    return broken;
  }
  check(client.home >= snapshot.nodes.size() || snapshot.nodes[client.home].known,
        "leaves a node without readings");
  check(!client.moving, "is being moved already");
  if (reason == Reason::kSpill) {
    return broken;  // the validator's check_spill() has the rules for spills that begin
  }
  check(vm.measured, "has never been measured");
  check(!vm.policy.do_not_move, "is not to be moved, says the administrator");
  check(client.epochs_here >= options.residency, "has been on its node for " +
                                                     std::to_string(client.epochs_here) +
                                                     " epochs, less than Numa.Residency");
  check(
      client.came_from != to || client.epochs_here >= options.no_return,
      "goes back after " + std::to_string(client.epochs_here) + " epochs, less than Numa.NoReturn");
  check(!is_a_turn(reason) || vm.epochs_rested >= vm.epochs_travelled * options.lterm_rest_times,
        "takes a turn after " + std::to_string(vm.epochs_rested) +
            " epochs of rest, although its memory travelled for " +
            std::to_string(vm.epochs_travelled) + ", too early for Numa.LTermRestTimes");
  check(!exchanges_homes(reason) || client.epochs_since_swap >= options.swap_consider_period,
        "was swapped " + std::to_string(client.epochs_since_swap) +
            " epochs ago, less than Numa.SwapConsiderPeriod");
  return broken;
}

}  // namespace vmnuma::balancer
