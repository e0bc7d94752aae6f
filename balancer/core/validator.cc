// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/validator.h"

#include <algorithm>
#include <optional>
#include <set>

#include "balancer/core/reckoning.h"
#include "balancer/core/validator_rules.h"
#include "placement/exclusive_cores.h"

namespace vmnuma::balancer {

namespace {

class Validator {
 public:
  Validator(const Plan& plan, const Snapshot& snapshot, const Options& options,
            const Circumstances& circumstances)
      : plan_(plan),
        snapshot_(snapshot),
        options_(options),
        circumstances_(circumstances),
        now_(snapshot, options),
        pulled_(MemoryRoom::none(snapshot)) {}

  std::vector<std::string> check() {
    if (plan_.epoch != snapshot_.epoch) {
      violation("the plan is for epoch " + std::to_string(plan_.epoch) + ", not " +
                std::to_string(snapshot_.epoch));
    }
    if (plan_.actions.empty()) {
      return std::move(violations_);
    }
    if (options_.rebalance_enable == 0) {
      violation("there are actions although Numa.RebalanceEnable is 0");
    }
    const bool spills_already = std::ranges::any_of(
        snapshot_.clients, [](const ClientState& client) { return client.spills_to != kNoNode; });
    if (!spills_already) {
      check_figure("lost time", plan_.lost, now_.lost());
    }
    check_imbalance(plan_.imbalance);
    for (const Action& action : plan_.actions) {
      ++number_;
      action_ = &action;
      check_action();
    }
    return std::move(violations_);
  }

  std::vector<std::string> check_orders() {
    for (const Action& action : plan_.actions) {
      ++number_;
      action_ = &action;
      const std::optional<std::vector<Rehoming>> changes = rehomings();
      if (!changes) {
        continue;
      }
      check_from_and_to(*changes, /*shall_stay=*/false);
      for (const Relocation& relocation : action.relocations) {
        const ClientIndex client = index_of(snapshot_, relocation.client);
        add(broken_by_client(action.reason, client, relocation.to, snapshot_, options_));
        check_memory(client, relocation);
      }
      now_.apply(*changes);
      check_groups(*changes);
      check_room(*changes);
      check_own_cores(*changes);
    }
    return std::move(violations_);
  }

 private:
  void violation(std::string text) {
    if (action_ != nullptr) {
      text = "action " + std::to_string(number_) + " (" + std::string(name_of(action_->reason)) +
             "): " + text;
    }
    violations_.push_back(std::move(text));
  }

  void add(std::vector<std::string> texts) {
    for (std::string& text : texts) {
      violation(std::move(text));
    }
  }

  [[nodiscard]] std::string name(ClientIndex client) const {
    return client_name(snapshot_, client);
  }

  /// Checks everything about one action; its figures only if it can be carried out at all.
  void check_action() {
    const std::optional<std::vector<Rehoming>> changes = rehomings();
    if (!changes) {
      return;
    }
    check_vms(*changes);
    check_shape(*changes);
    add(broken_by_time(*action_, snapshot_, options_, circumstances_));
    moves_ += moves_a_home(action_->reason) ? 1 : 0;
    const std::int64_t most = options_.migrations_per_epoch > 0
                                  ? options_.migrations_per_epoch
                                  : std::max(kFewestMoves, snapshot_.topology.home_count());
    if (moves_ > most && moves_a_home(action_->reason)) {
      violation("it is one more than Numa.MigrationsPerEpoch");
    }
    for (const Relocation& relocation : action_->relocations) {
      const ClientIndex client = index_of(snapshot_, relocation.client);
      add(broken_by_client(action_->reason, client, relocation.to, snapshot_, options_));
      check_memory(client, relocation);
    }
    check_start_of_figures();
    if (action_->reason == Reason::kSpill) {
      for (const Relocation& relocation : action_->relocations) {
        check_spill(index_of(snapshot_, relocation.client), relocation);
      }
    } else if (action_->reason == Reason::kMemoryPull) {
      pull(*changes);
    } else {
      carry_out(*changes);
    }
  }

  // ---- whether it refers to what exists ----

  /// Returns the action as clients and nodes of the snapshot; nothing if it names others.
  std::optional<std::vector<Rehoming>> rehomings() {
    std::vector<Rehoming> changes;
    for (const Relocation& relocation : action_->relocations) {
      const ClientIndex client = index_of(snapshot_, relocation.client);
      if (client == kNoClient) {
        violation("there is no such client");
        return std::nullopt;
      }
      // A VM that was found pinned to a node without memory has its home there, and may spill.
      const bool is_at_home =
          action_->reason == Reason::kSpill && relocation.to == snapshot_.clients[client].home;
      if (relocation.to >= snapshot_.nodes.size() ||
          (!is_at_home && !snapshot_.topology.can_be_home(relocation.to))) {
        violation(name(client) + " goes to a node that cannot be a home");
        return std::nullopt;
      }
      if (!seen_.insert(client).second) {
        violation(name(client) + " is in the plan twice");
        return std::nullopt;
      }
      changes.push_back({client, relocation.to});
    }
    if (changes.empty()) {
      violation("it does nothing");
      return std::nullopt;
    }
    return changes;
  }

  /// Only one order of a VM may be in progress at a time.
  void check_vms(const std::vector<Rehoming>& changes) {
    std::set<std::size_t> vms;
    for (const Rehoming& change : changes) {
      vms.insert(snapshot_.clients[change.client].vm);
    }
    for (const std::size_t vm : vms) {
      if (!vms_.insert(vm).second) {
        violation("VM '" + snapshot_.vms[vm].name + "' is in two actions");
      }
    }
  }

  void check_shape(const std::vector<Rehoming>& changes) {
    const Reason reason = action_->reason;
    if (reason == Reason::kAdministrator || reason == Reason::kMakeRoom ||
        reason == Reason::kCpuAssignment) {
      violation("this is not for a plan to do");
    }
    if (exchanges_homes(reason)) {
      if (changes.size() != 2 || changes[0].to != now_.home(changes[1].client) ||
          changes[1].to != now_.home(changes[0].client)) {
        violation("a swap is two clients that change places");
      }
    } else if (moves_a_home(reason)) {
      const std::size_t most = reason == Reason::kLoadMove ? Arrangement::kMostTogether : 1;
      if (changes.size() > most) {
        violation("it moves more clients than it may");
      }
    }
    check_from_and_to(changes, !moves_a_home(reason) && reason != Reason::kInitialPlacement);
  }

  void check_from_and_to(const std::vector<Rehoming>& changes, bool shall_stay) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const NodeIndex from = action_->relocations[i].from;
      const bool stays = changes[i].to == now_.home(changes[i].client);
      if (from != now_.home(changes[i].client) || stays != shall_stay) {
        violation(name(changes[i].client) + " does not live where it is taken from, or " +
                  "does not go anywhere");
      }
    }
  }

  // ---- memory and groups ----

  void check_memory(ClientIndex index, const Relocation& relocation) {
    const MemoryProfile& memory = now_.memory(index);
    if (action_->reason == Reason::kMemoryPull) {
      if (!memory.can_follow || relocation.memory <= Bytes{} ||
          relocation.memory > memory.not_on(relocation.to)) {
        violation(name(index) + " has not that much to be pulled");
      }
    } else if (action_->reason == Reason::kSpill) {
      if (relocation.memory != Bytes{}) {
        violation("a spill moves no memory");
      }
    } else if (relocation.memory != (memory.can_follow ? memory.not_on(relocation.to) : Bytes{})) {
      violation("the memory of " + name(index) + " is counted wrong");
    }
  }

  /// A group that is hard for one VM is hard for all its VMs.
  [[nodiscard]] bool is_hard(const std::string& group) const {
    return !group.empty() && std::ranges::any_of(snapshot_.vms, [&](const auto& vm) {
      return vm.client_count > 0 && vm.policy.anti_affinity_group == group &&
             vm.policy.anti_affinity_hard;
    });
  }

  void check_groups(const std::vector<Rehoming>& changes) {
    for (const Rehoming& change : changes) {
      const ClientState& client = snapshot_.clients[change.client];
      if (const auto most = most_per_node(snapshot_, snapshot_.vms[client.vm])) {
        std::int64_t vcpus = 0;
        for (ClientIndex other = 0; other < snapshot_.clients.size(); ++other) {
          const ClientState& sibling = snapshot_.clients[other];
          vcpus +=
              sibling.vm == client.vm && now_.home(other) == change.to ? sibling.vcpu_count() : 0;
        }
        if (vcpus > *most) {
          violation(name(change.client) + " goes to a node that would then have " +
                    std::to_string(vcpus) + " vCPUs of its VM, more than max_per_node");
        }
      }
      const std::string& group = snapshot_.vms[client.vm].policy.anti_affinity_group;
      if (group.empty()) {
        continue;
      }
      const bool hard = is_hard(group);
      for (ClientIndex other = 0; hard && other < snapshot_.clients.size(); ++other) {
        const ClientState& member = snapshot_.clients[other];
        if (member.vm != client.vm && now_.home(other) == change.to &&
            snapshot_.vms[member.vm].policy.anti_affinity_group == group) {
          violation(name(change.client) + " goes to " + name(other) +
                    ", which a hard group forbids");
        }
      }
    }
  }

  // ---- its effect ----

  void check_figure(const std::string& what, CpuTime told, CpuTime is) {
    const CpuTime off = told > is ? told - is : is - told;
    if (off > now_.rounding() * (moves_and_placements_ + 1)) {
      violation("the " + what + " is " + std::to_string(is.value) + " us, not " +
                std::to_string(told.value));
    }
  }

  void check_imbalance(Permille told) {
    const Permille is = now_.imbalance();
    const Permille off = told > is ? told - is : is - told;
    if (off > share_rounding(now_, snapshot_)) {
      violation("the imbalance is " + std::to_string(is.value) + " per mille, not " +
                std::to_string(told.value));
    }
  }

  /// Spills save at most what is owed, and with spills more is owed if non-VM load is higher than
  /// usual in this epoch.
  void check_beside_spills(CpuTime told) {
    CpuTime at_least = now_.lost();
    CpuTime at_most = now_.lost();
    if (options_.spill_enable != 0) {
      at_least -= sum_of(now_.owed());
      for (const NodeState& node : snapshot_.nodes) {
        at_most += std::max(node.non_vm_now - node.non_vm, CpuTime{}) * 2;
      }
    }
    const CpuTime off = now_.rounding() * (moves_and_placements_ + 1);
    if (told > at_most + off || told + off < at_least) {
      violation("the lost time is wrong");
    }
  }

  void check_start_of_figures() {
    const Prediction& predicted = action_->predicted;
    const CpuTime begins =
        action_->reason == Reason::kSpill ? predicted.lost_after : predicted.lost_before;
    if (begins != lost_.value_or(begins)) {
      violation("its figures do not begin where those before end");
    }
    if (!lost_) {
      check_beside_spills(begins);
    }
    lost_ = predicted.lost_after;
    check_imbalance(predicted.imbalance_before);
  }

  /// Clients of one VM begin or cease to run on a second node. They begin only if that node has
  /// CPUs and the demand at home is more than its cores.
  void check_spill(ClientIndex index, const Relocation& relocation) {
    const ClientState& client = snapshot_.clients[index];
    const NodeIndex second = relocation.spills_to;
    if (relocation.client.vm != action_->relocations.front().client.vm ||
        second == client.spills_to) {
      violation(name(index) + " does not begin or cease to spill, or is of another VM");
    }
    const bool is_read = snapshot_.vms[client.vm].fresh;
    if (!is_read && client.spills_to != kNoNode &&
        (second != kNoNode || client.spill_saves != CpuTime{})) {
      violation(name(index) + " has no readings, and loses a second node that saved something");
    }
    if (second == kNoNode) {
      return;
    }
    if (second == relocation.to || second >= snapshot_.nodes.size() ||
        snapshot_.topology.nodes[second].cpus.empty() || !snapshot_.nodes[second].known) {
      violation(name(index) + " spills to a node that has no CPUs for it");
      return;
    }
    if (options_.spill_enable == 0) {
      violation("Numa.SpillEnable is 0");
    }
    const VmState& vm = snapshot_.vms[client.vm];
    if (vm.policy.do_not_move || !vm.measured) {
      violation(name(index) + " begins to spill, and is not to be moved or was never measured");
    }
    check_second_node(index, second);
    const NodeState& home = snapshot_.nodes[relocation.to];
    CpuTime wanted = std::max(home.non_vm, home.non_vm_now) + home.set_aside;
    CpuTime vcpus = wanted;
    for (ClientIndex other = 0; other < snapshot_.clients.size(); ++other) {
      if (now_.home(other) == relocation.to) {
        wanted += snapshot_.clients[other].demand;
        vcpus += snapshot_.epoch_length * snapshot_.clients[other].vcpu_count();
      }
    }
    // For a VM that cannot be read, `wanted` has its last known demand.
    const CpuTime enough =
        is_read ? home.physical : home.physical * (100 - options_.mig_threshold) / 100;
    if (!home.known || (wanted <= enough && vcpus <= home.threads)) {
      violation(name(index) + " spills from a node that has enough for all its clients");
    }
  }

  /// No other VM of a hard group may live there or spill to it.
  void check_second_node(ClientIndex index, NodeIndex second) {
    const ClientState& client = snapshot_.clients[index];
    const std::string& group = snapshot_.vms[client.vm].policy.anti_affinity_group;
    const bool hard = is_hard(group);
    for (ClientIndex other = 0; hard && other < snapshot_.clients.size(); ++other) {
      const ClientState& member = snapshot_.clients[other];
      if (member.vm == client.vm || snapshot_.vms[member.vm].policy.anti_affinity_group != group) {
        continue;
      }
      const bool also_spills = std::ranges::any_of(plan_.spills, [&](const Spill& spill) {
        return spill.client == member.id && spill.to == second;
      });
      if (also_spills || now_.home(other) == second) {
        violation(name(index) + " spills to a node of " + name(other) +
                  ", from which its group keeps it apart");
      }
    }
  }

  void pull(const std::vector<Rehoming>& changes) {
    const Prediction& predicted = action_->predicted;
    if (predicted.lost_after != predicted.lost_before) {
      violation("pages alone are not counted as gain");
    }
    for (std::size_t i = 0; i < changes.size(); ++i) {
      Bytes& pulled = pulled_.of(changes[i].client, changes[i].to);
      pulled += action_->relocations[i].memory;
      if (pulled > now_.room().of(changes[i].client, changes[i].to)) {
        violation("there is no room for all that is pulled");
      }
    }
  }

  void carry_out(const std::vector<Rehoming>& changes) {
    const Reason reason = action_->reason;
    MoveEffect effect{.action = *action_,
                      .changes = changes,
                      .owed_before = now_.owed(),
                      .shares_before = now_.owed_shares(),
                      .is_alone = moves_and_placements_ == 0};
    for (const Rehoming& change : changes) {
      effect.from.push_back(now_.home(change.client));
      if (effect.from.back() != kNoNode) {
        const MemoryProfile& memory = now_.memory(change.client);
        effect.locality += memory.locality(change.to) - memory.locality(effect.from.back());
      }
    }
    if (is_a_turn(reason)) {
      add(broken_by_turn(changes.front(), now_, snapshot_, options_));
    }
    const CpuTime lost_before = now_.lost();
    const CpuTime talks_before = now_.lost_to_talks();
    now_.apply(changes);
    ++moves_and_placements_;
    check_groups(changes);
    check_figure("gain at home", action_->predicted.gain_at_home, lost_before - now_.lost());
    check_beside_spills(action_->predicted.lost_after);
    check_imbalance(action_->predicted.imbalance_after);
    if (reason == Reason::kInitialPlacement) {
      return;
    }
    check_room(changes);
    check_own_cores(changes);
    effect.talk = std::max(talks_before - now_.lost_to_talks(), CpuTime{});
    add(broken_by_effect(effect, now_, snapshot_, options_));
  }

  void check_room(const std::vector<Rehoming>& changes) {
    for (const Rehoming& change : changes) {
      const MemoryProfile& memory = now_.memory(change.client);
      if (memory.can_follow && memory.not_on(change.to) > Bytes{} &&
          now_.room().of(change.client, change.to) < Bytes{}) {
        violation("there is no room for the memory of " + name(change.client));
      }
    }
  }

  /// A client with cores of its own gets as many on its new node, in addition to those of all
  /// clients that are there then.
  void check_own_cores(const std::vector<Rehoming>& changes) {
    for (const Rehoming& change : changes) {
      if (snapshot_.clients[change.client].exclusive_cores == 0) {
        continue;
      }
      const Node& node = snapshot_.topology.nodes[change.to];
      std::int32_t taken = kCoresForOthers;
      for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
        const ClientState& state = snapshot_.clients[client];
        const VmPolicy& policy = snapshot_.vms[state.vm].policy;
        if (now_.home(client) == change.to && policy.cpu_binding == CpuBinding::kExclusive) {
          taken += state.home == change.to ? state.exclusive_cores
                                           : cores_for(policy.cpu_policy, state.vcpu_count(), node);
        }
      }
      if (taken > node.core_count()) {
        violation(name(change.client) + " does not find its cores there");
      }
    }
  }

  const Plan& plan_;
  const Snapshot& snapshot_;
  const Options& options_;
  const Circumstances& circumstances_;
  Reckoning now_;
  std::vector<std::string> violations_;
  const Action* action_ = nullptr;
  std::int64_t number_ = 0;
  std::set<ClientIndex> seen_;
  std::set<std::size_t> vms_;  ///< in the actions so far
  MemoryRoom pulled_;
  std::optional<CpuTime> lost_;  ///< after the last action
  std::int64_t moves_ = 0;
  std::int64_t moves_and_placements_ = 0;
};

}  // namespace

std::vector<std::string> violations_of(const Plan& plan, const Snapshot& snapshot,
                                       const Options& options, const Circumstances& circumstances) {
  return Validator(plan, snapshot, options, circumstances).check();
}

std::vector<std::string> violations_of_orders(const Plan& orders, const Snapshot& snapshot,
                                              const Options& options) {
  return Validator(orders, snapshot, options, Circumstances{}).check_orders();
}

}  // namespace vmnuma::balancer
