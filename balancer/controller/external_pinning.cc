// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/external_pinning.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "balancer/controller/cpu_control.h"

namespace vmnuma::balancer {

namespace {

using Kind = PinState::Kind;

/// How often a VM is pinned again before external changes to its pins are accepted; old repairs do
/// not count.
constexpr std::int64_t kMostRepairs = 3;

/// The index of each vCPU's client.
std::map<std::int32_t, std::size_t> clients_of_vcpus(const VmRecord& vm) {
  std::map<std::int32_t, std::size_t> clients;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    for (const std::int32_t vcpu : vm.clients[index].shape.vcpus) {
      clients[vcpu] = index;
    }
  }
  return clients;
}

/// How a VM's pins differ from its homes.
struct PinDifference {
  std::string external;   ///< how they differ if they fit no home at all; otherwise empty
  bool homeless = false;  ///< some client has no home
  bool plugged = false;   ///< some client has vCPUs that have not been pinned yet
  /// Clients that are not pinned, or are pinned to a node other than their home.
  std::vector<std::pair<ClientId, PinState>> elsewhere;
};

PinDifference compare_pins(const VmRecord& vm, const ManagedVm& managed, const PinReader& reader) {
  const bool is_often = managed.repairs.value_or(0) >= kMostRepairs;
  PinDifference found;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientRecord& client = vm.clients[index];
    const ClientId id{vm.description.id, static_cast<std::int32_t>(index)};
    const std::vector<CpuId> given = managed.cpu_subset_of(id.index);
    const PinState pins = reader.state_of(vm, client, given);
    const bool has_home = client.home.value >= 0;
    // A client on its way home has no home yet.
    const bool is_known = has_home || managed.pinned_by_others;
    const bool incomplete = pins.kind == Kind::kIncomplete;
    found.homeless = found.homeless || !has_home;
    found.plugged = found.plugged || incomplete;
    if (pins.kind == Kind::kOther || pins.kind == Kind::kGone ||
        (incomplete && pins.node != client.home && is_known)) {
      found.external = differing_pins_text(given);
    } else if (pins.kind == Kind::kFree && has_home && is_often) {
      found.external = "its pins are removed each time they are set";
    } else if ((pins.kind == Kind::kFree && has_home) ||
               (pins.kind == Kind::kOneNode && pins.node != client.home && is_known)) {
      found.elsewhere.emplace_back(id, pins);
    }
  }
  return found;
}

/// One VM in one epoch.
struct Reconciliation {
  const PinRules& rules;
  const VmRecord& vm;
  const PinDifference& found;
  ManagedVm& managed;
  Homes& homes;
  Effects& effects;
  const std::string& name = vm.description.name;

  void respect_or_repair() {
    if (found.plugged && found.external.empty() && found.elsewhere.empty()) {
      if (rules.acts && rules.places && !found.homeless) {
        pin_plugged();
      }
      return;
    }
    if (rules.repairs && (!found.external.empty() || !found.elsewhere.empty()) && !found.homeless &&
        !managed.pinned_by_others && repair()) {
      return;
    }
    if (rules.repairs && found.homeless && managed.repairs && *managed.repairs <= kMostRepairs) {
      return;  // it is on its way home
    }
    if (!rules.repairs && std::ranges::any_of(found.elsewhere, [](const auto& entry) {
          return entry.second.kind == Kind::kFree;
        })) {
      count_repair();
    }
    for (const auto& [client, pins] : found.elsewhere) {
      take(client, pins);
    }
    respect_insistence();
  }

  /// For a VM with only one possible home: pins to it count as no pins; only a part of it that was
  /// given matters.
  void keep_subset_of_only_home() {
    const bool lost = managed.cpu_subset && (found.plugged || !found.elsewhere.empty());
    if (lost && found.external.empty() && rules.acts) {
      count_repair();
      managed.cpu_subset.reset();  // its CPUs are assigned again
      say(Severity::kNotice,
          fmt::format("VM '{}' is not pinned to the CPUs that it was given, pinning it again",
                      name));
      return;
    }
    respect_insistence();
  }

  /// For a VM with pins made for an earlier state of the host or of its clients: these are not an
  /// external decision. If they do not fit its homes the next assignment of CPUs corrects them.
  void renew_outdated(bool is_on_only_home) {
    const bool fits = found.external.empty() && !found.plugged && found.elsewhere.empty();
    const bool needs_none = is_on_only_home && !managed.cpu_subset;
    if (fits || (needs_none && found.external.empty())) {
      managed.outdated_since.reset();
      managed.forget_repairs();
      return;
    }
    if (needs_none || found.homeless || !rules.acts || !may_be_pinned(vm, managed, rules.epoch)) {
      return;  // the pins are right, or it is about to be placed, or must wait
    }
    if (count_repair() > kMostRepairs) {
      managed.outdated_since.reset();
      return;
    }
    managed.cpu_subset = pins_as_given(vm);
  }

  void say(Severity severity, std::string message) {
    effects.say_of_vm(name, severity, std::move(message));
  }
  std::int64_t count_repair() { return managed.count_repair(rules.epoch); }

  /// Pins new vCPUs home. A VM that must not move keeps its homes, whatever room they have, and
  /// gets its pins by the next assignment of CPUs.
  void pin_plugged() {
    std::string because = fmt::format("VM '{}' has new vCPUs, pinning them to its home", name);
    if (!vm.description.policy.do_not_move) {
      homes.place_again(vm, std::move(because));
      return;
    }
    managed.outdated_since = rules.epoch;
    say(Severity::kNotice, std::move(because));
  }

  /// Pins the VM home again. False if that was done too often.
  bool repair() {
    if (const std::int64_t repairs = count_repair(); repairs > kMostRepairs) {
      if (repairs == kMostRepairs + 1) {
        say(Severity::kWarning,
            fmt::format("VM '{}' was pinned elsewhere externally {} times, leaving it pinned there",
                        name, repairs));
      }
      return false;
    }
    homes.place_again(
        vm,
        fmt::format("VM '{}' was pinned elsewhere externally, pinning it to its home again", name));
    return true;
  }

  /// Makes the node that a client is pinned to its home; a client without pins is placed again.
  void take(const ClientId& client, const PinState& pins) {
    if (pins.kind == Kind::kOneNode) {
      say(Severity::kNotice,
          fmt::format("VM '{}' was pinned to node {} externally, taking that as its home", name,
                      pins.node.value));
      homes.adopt(client, pins.node, "it was pinned to this node externally");
    } else {
      say(Severity::kNotice,
          fmt::format("the pins of VM '{}' were removed externally, placing it anew", name));
      homes.give_up(client);
    }
    homes.remember_homes_of(client.vm);
  }

  /// Leaves a VM alone for as long as it is pinned externally.
  void respect_insistence() {
    if (!found.external.empty() && !managed.pinned_by_others) {
      homes.leave_to_others(vm, found.external);
    } else if (found.external.empty() && managed.pinned_by_others) {
      managed.pinned_by_others.reset();
      say(Severity::kNotice,
          fmt::format("VM '{}' is no longer pinned externally, managing it again", name));
    }
  }
};

/// True if a spilling client is pinned to its home only, which was done externally, and this ends
/// the spill: that is so the first three times; after that its pins count as external.
bool has_spilled_in_vain(const VmRecord& vm, ManagedVm& managed, const PinReader& reader,
                         std::int64_t epoch) {
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientRecord& client = vm.clients[index];
    if (client.spills_to.value < 0) {
      continue;
    }
    const PinState pins = reader.state_of(vm, client, {});
    if (pins.kind == Kind::kOneNode && pins.node == client.home) {
      return managed.count_repair(epoch) <= kMostRepairs;
    }
  }
  return false;
}

}  // namespace

void reconcile_external_pinning(const PinRules& rules, const Ledger& ledger, ManagedVms& vms,
                                Homes& homes, Effects& effects) {
  const PinReader reader(ledger.topology());
  const bool has_only_home = ledger.topology().only_home().has_value();
  for (const auto& [id, vm] : ledger.vms()) {
    ManagedVm& managed = vms[id];
    managed.decay_repairs(rules.epoch);
    const bool moving = std::ranges::any_of(vm.clients, &ClientRecord::moving);
    if (moving || managed.released || managed.confined || !managed.is_settled(rules.epoch)) {
      continue;
    }
    if (managed.recovered_in) {
      if (rules.epoch - *managed.recovered_in < kSettledAfter) {
        continue;
      }
      homes.adopt_recovered(id, rules.epoch);
    }
    if (rules.acts && has_spilled_in_vain(vm, managed, reader, rules.epoch)) {
      homes.end_spills(vm);
    }
    const PinDifference found = compare_pins(vm, managed, reader);
    Reconciliation reconciliation{rules, vm, found, managed, homes, effects};
    if (managed.outdated_since) {
      reconciliation.renew_outdated(has_only_home);
    } else if (has_only_home) {
      reconciliation.keep_subset_of_only_home();
    } else {
      reconciliation.respect_or_repair();
    }
  }
}

ClientGroups client_groups(const Ledger& ledger) {
  ClientGroups groups;
  for (const auto& [id, vm] : ledger.vms()) {
    groups.emplace(id, clients_of_vcpus(vm));
  }
  return groups;
}

void record_regrouped(const ClientGroups& before, const Ledger& ledger, std::int64_t epoch,
                      ManagedVms& vms) {
  for (const auto& [id, vm] : ledger.vms()) {
    const auto former = before.find(id);
    if (former == before.end() || vms.of(id).is_left_alone()) {
      continue;
    }
    for (const auto& [vcpu, client] : clients_of_vcpus(vm)) {
      const auto known = former->second.find(vcpu);
      if (known != former->second.end() && known->second != client) {
        vms[id].outdate(epoch);
      }
    }
  }
}

void record_other_cpus(const Ledger& ledger, std::int64_t epoch, ManagedVms& vms) {
  for (const auto& [id, vm] : ledger.vms()) {
    if (!vms.of(id).is_left_alone()) {
      vms[id].outdate(epoch);
    }
  }
}

}  // namespace vmnuma::balancer
