// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "balancer/core/validator_rules.h"
#include "placement/alignment.h"

namespace vmnuma::balancer {

namespace {

class EffectRules {
 public:
  EffectRules(const MoveEffect& effect, const Reckoning& after, const Snapshot& snapshot,
              const Options& options)
      : effect_(effect), after_(after), snapshot_(snapshot), options_(options) {}

  std::vector<std::string> check() {
    const Reason reason = effect_.action.reason;
    if (is_for_talk()) {
      check_talk();
    } else {
      check_gain();
    }
    if (is_for_locality(reason)) {
      if (effect_.locality.value < options_.locality_mig_threshold * 10) {
        violation("locality grows by less than Numa.LocalityMigThreshold");
      }
      check_cores();
    }
    if (reason == Reason::kAffinityMove) {
      check_crowding();
    }
    if (reason == Reason::kLoadMove && effect_.changes.size() == 1) {
      check_residual();
    }
    if (is_for_load(reason)) {
      check_long_term();
    }
    return std::move(violations_);
  }

 private:
  void violation(std::string text) { violations_.push_back(std::move(text)); }
  [[nodiscard]] const Rehoming& first() const { return effect_.changes.front(); }

  /// A client on a node that is expected to be short moves to one that is not, without a cost to
  /// any client now.
  void check_forecast() {
    if (predicted_gain() < CpuTime{}) {
      violation("it costs CPU time that is not expected to be short");
    }
    Reckoning expected(snapshot_, options_, Reckoning::Basis::kLoad);
    const CpuTime before = expected.lost();
    expected.apply(effect_.changes);
    if (before - expected.lost() + expected.rounding() < std::max(threshold(), CpuTime{1})) {
      violation("it is not expected to bring Numa.MigThreshold");
    }
    if (!effect_.is_alone || effect_.changes.size() > 1) {
      violation("what is expected is moved beside others");
    }
  }

  /// Returns Numa.MigThreshold of the largest node, of Numa.MigThresholdCPUs at most.
  [[nodiscard]] CpuTime threshold() const {
    CpuTime largest;
    for (std::size_t i = 0; i < effect_.changes.size(); ++i) {
      for (const NodeIndex node : {effect_.from[i], effect_.changes[i].to}) {
        largest = std::max(
            largest, node < snapshot_.nodes.size() ? snapshot_.nodes[node].capacity : CpuTime{});
      }
    }
    if (options_.mig_threshold_cpus > 0) {
      largest = std::min(largest, snapshot_.epoch_length * options_.mig_threshold_cpus);
    }
    return largest * options_.mig_threshold / 100;
  }

  /// Returns the gain on which the decision was based: with all clients at home.
  [[nodiscard]] CpuTime predicted_gain() const {
    return effect_.action.predicted.gain_at_home + after_.rounding();
  }

  void check_pays() {
    if (is_for_load(effect_.action.reason) && options_.spill_enable != 0 &&
        effect_.action.predicted.lost_after > effect_.action.predicted.lost_before) {
      violation("the host loses more with it, beside spills");
    }
    if (effect_.action.predicted.cost > CpuTime{} &&
        predicted_gain() * longest_horizon(snapshot_, options_) <= effect_.action.predicted.cost) {
      violation("it does not pay within the horizon");
    }
  }

  /// Talk counts for no reason except bringing talkers together.
  void check_gain() {
    if (effect_.action.reason == Reason::kForecastMove) {
      check_forecast();
      return;
    }
    const CpuTime least = threshold();
    const bool is_for_time =
        is_for_load(effect_.action.reason) || effect_.action.reason == Reason::kAffinityMove;
    if (predicted_gain() - effect_.talk < (is_for_time ? std::max(least, CpuTime{1}) : -least)) {
      violation("it brings less than Numa.MigThreshold");
    }
    if (!is_a_turn(effect_.action.reason)) {
      check_pays();
    }
  }

  /// Returns true for a move that only talk justifies.
  [[nodiscard]] bool is_for_talk() const {
    if (effect_.action.reason != Reason::kAffinityMove) {
      return false;
    }
    const ClientState& client = snapshot_.clients[first().client];
    const VmPolicy& policy = snapshot_.vms[client.vm].policy;
    const VmState& vm = snapshot_.vms[client.vm];
    return (policy.affinity_group.empty() && policy.anti_affinity_group.empty() &&
            !wants_its_devices(snapshot_, client) && !is_one_memory(vm)) ||
           (effect_.talk > CpuTime{} &&
            predicted_gain() - effect_.talk < std::max(threshold(), CpuTime{1}));
  }

  /// Returns demand relative to capacity, before the client moved to its present node.
  [[nodiscard]] Permille load_before(NodeIndex node) const {
    CpuTime demand;
    for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
      const NodeIndex lived = client == first().client ? effect_.from.front() : after_.home(client);
      demand += lived == node ? snapshot_.clients[client].demand : CpuTime{};
    }
    return permille_of(demand.value, snapshot_.nodes[node].capacity.value, Permille{1'000'000});
  }

  void check_talk() {
    const CpuTime own = snapshot_.epoch_length * snapshot_.clients[first().client].vcpu_count();
    if (std::min(predicted_gain(), effect_.talk) <
        std::max(own * options_.mig_threshold / 100, CpuTime{1})) {
      violation("the talk that it brings together is less than Numa.MigThreshold");
    }
    CpuTime more;
    const std::vector<CpuTime> owed = after_.owed();
    for (ClientIndex client = 0; client < owed.size(); ++client) {
      more += owed[client] - effect_.owed_before[client];
    }
    if (more > after_.rounding()) {
      violation("it brings talk together at the price of owed time");
    }
    check_cores();
    if (load_before(first().to) > load_before(effect_.from.front())) {
      violation("it brings talk together on a busier node");
    }
    check_pays();
  }

  void check_cores() {
    for (const Rehoming& change : effect_.changes) {
      CpuTime demand;
      for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
        demand += after_.home(client) == change.to ? snapshot_.clients[client].demand : CpuTime{};
      }
      const NodeState& node = snapshot_.nodes[change.to];
      if (options_.core_cap_ratio_pct > 0 &&
          demand * 100 >
              (node.physical - node.non_vm - node.set_aside) * options_.core_cap_ratio_pct) {
        violation("it fills a node beyond Numa.CoreCapRatioPct");
      }
    }
  }

  /// No group may be brought together on a node that then has more vCPUs than CPUs, and far more
  /// per CPU than the host.
  void check_crowding() {
    if (snapshot_.vms[snapshot_.clients[first().client].vm].policy.affinity_group.empty()) {
      return;
    }
    std::int64_t here = 0;
    std::int64_t everywhere = 0;
    for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
      const std::int64_t vcpus = snapshot_.clients[client].vcpu_count();
      here += after_.home(client) == first().to ? vcpus : 0;
      everywhere += after_.home(client) != kNoNode ? vcpus : 0;
    }
    std::int64_t cpus = 0;
    for (const Node& node : snapshot_.topology.nodes) {
      cpus += node.cpu_count();
    }
    const std::int64_t cpus_here = snapshot_.topology.nodes[first().to].cpu_count();
    if (here > cpus_here && here * cpus * 2 > everywhere * cpus_here * 3) {
      violation("it crowds a node for the sake of a group");
    }
  }

  void check_residual() {
    const NodeIndex from = effect_.from.front();
    const NodeIndex to = first().to;
    if (from == kNoNode) {
      return;
    }
    const std::vector<Permille> after = after_.owed_shares();
    const Permille was =
        effect_.shares_before[from] - effect_.shares_before[to] + share_rounding(after_, snapshot_);
    const Permille left = after[to] - after[from] - share_rounding(after_, snapshot_);
    if (left > Permille{} && left * 100 > was * options_.mig_thrash_threshold) {
      violation("it leaves more imbalance the other way than Numa.MigThrashThreshold");
    }
  }

  void check_long_term() {
    if (options_.mig_prevent_lterm_thresh == 0) {
      return;
    }
    const std::vector<CpuTime> after = after_.owed();
    CpuTime more;
    for (ClientIndex client = 0; client < after.size(); ++client) {
      const ClientState& state = snapshot_.clients[client];
      const Permille weight =
          std::min(permille_of(state.owed_on_average.value, state.entitled.value, Permille{}),
                   Permille{1000});
      more += (after[client] - effect_.owed_before[client]) * weight.value / 1000;
    }
    if ((more - after_.rounding()) * 100 >
        capacity_of_host(snapshot_) * options_.mig_prevent_lterm_thresh) {
      violation("it raises long-term imbalance beyond Numa.MigPreventLTermThresh");
    }
  }

  const MoveEffect& effect_;
  const Reckoning& after_;
  const Snapshot& snapshot_;
  const Options& options_;
  std::vector<std::string> violations_;
};

}  // namespace

Permille share_rounding(const Reckoning& reckoning, const Snapshot& snapshot) {
  std::int64_t smallest = 0;
  for (const NodeState& node : snapshot.nodes) {
    const CpuTime capacity = node.capacity > CpuTime{} ? node.capacity : node.physical;
    if (capacity > CpuTime{} && (smallest == 0 || capacity.value < smallest)) {
      smallest = capacity.value;
    }
  }
  return Permille{2} + permille_of(reckoning.rounding().value, smallest, Permille{});
}

std::vector<std::string> broken_by_turn(const Rehoming& turn, const Reckoning& before,
                                        const Snapshot& snapshot, const Options& options) {
  std::vector<std::string> broken;
  const std::array nodes{before.home(turn.client), turn.to};
  const auto lives_here = [&](ClientIndex client) {
    return std::ranges::find(nodes, before.home(client)) != nodes.end();
  };
  CpuTime demand;
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    demand += lives_here(client) ? snapshot.clients[client].demand : CpuTime{};
  }
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const ClientState& state = snapshot.clients[client];
    const VmState& vm = snapshot.vms[state.vm];
    if (lives_here(client) &&
        (vm.transferring || demand * vm.epochs_rested <
                                state.demand * (vm.epochs_travelled * options.lterm_rest_times))) {
      broken.push_back("it comes too early after the turn of " + client_name(snapshot, client));
    }
  }
  return broken;
}

std::vector<std::string> broken_by_effect(const MoveEffect& effect, const Reckoning& after,
                                          const Snapshot& snapshot, const Options& options) {
  return EffectRules(effect, after, snapshot, options).check();
}

}  // namespace vmnuma::balancer
