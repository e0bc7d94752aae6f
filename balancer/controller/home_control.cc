// SPDX-License-Identifier: Apache-2.0
// Where VMs live by their pins: what is found at the start, what others change, and what becomes of
// homes when the host changes.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/found_pins.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::ClientId;
using placement::CpuId;
using placement::kNoNode;
using placement::NodeId;
using placement::NodeIndex;
using placement::VmId;

namespace {

using Kind = PinState::Kind;

/// Pins as libvirt tells them are believed this long after our own last change.
constexpr std::int64_t kSettledAfter = 3;
/// How often a VM is pinned again before whoever pins it elsewhere, or nowhere, has his way.
constexpr std::int64_t kMostRepairs = 3;

std::string foreign_text(const std::vector<CpuId>& given) {
  return given.empty()
             ? "its vCPUs are pinned to other than one whole node"
             : fmt::format("its vCPUs are pinned to other CPUs than {}, which it was given",
                           placement::to_list(given));
}

/// By vCPU the client it is of.
std::map<std::int32_t, std::size_t> clients_of_vcpus(const VmRecord& vm) {
  std::map<std::int32_t, std::size_t> clients;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    for (const std::int32_t vcpu : vm.clients[index].shape.vcpus) {
      clients[vcpu] = index;
    }
  }
  return clients;
}

}  // namespace

/// How a VM's pins differ from its homes.
struct Controller::FoundPins {
  std::string foreign;    ///< how they differ if they fit no home at all; empty: they fit some
  bool homeless = false;  ///< some client has no home
  bool plugged = false;   ///< some client has vCPUs that nobody has pinned yet
  /// Clients that are pinned nowhere, or to another node than their home.
  std::vector<std::pair<ClientId, PinState>> elsewhere;
};

// ---- what is found ----

void Controller::adopt_homes(const VmId& id, Effects& effects) {
  if (setup_.released.contains(id)) {
    return;
  }
  const VmRecord& vm = *ledger_.find(id);
  const PinReader reader(ledger_.topology());
  std::vector<std::pair<ClientId, NodeId>> found;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientId client{id, static_cast<std::int32_t>(index)};
    const PinState pins = reader.state_of(vm, vm.clients[index], given_cpus(client));
    const auto remembered = setup_.remembered_homes.find(client);
    const bool is_remembered = remembered != setup_.remembered_homes.end();
    const bool ours = is_remembered && remembered->second == pins.node;
    if (pins.kind == Kind::kOneNode || (pins.kind == Kind::kIncomplete && ours)) {
      found.emplace_back(client, pins.node);
      why_here_[client] = ours ? "it was placed here before the daemon was last started"
                               : "it was found pinned to this node";
    } else if (pins.kind == Kind::kGone && is_remembered) {
      // The CPUs of its home went while the daemon did not run.
      outdated_.emplace(id, snapshot_.epoch);
    } else if (pins.kind != Kind::kFree) {
      if (const auto node = find_given_cpus(vm, index)) {
        found.emplace_back(client, *node);
        why_here_[client] = "it was placed here before the daemon was last started";
        continue;
      }
      narrow_.erase(id);
      leave_to_others(vm, foreign_text({}), effects);
      return;
    }
  }
  for (const auto& [client, node] : found) {
    ledger_.adopt_home(client, node);
  }
  if (!found.empty()) {
    remember_homes(id, effects);
  }
}

void Controller::leave_to_others(const VmRecord& vm, std::string because, Effects& effects) {
  effects.log.push_back({Severity::kNotice,
                         fmt::format("VM '{}' is pinned by somebody else ({}), leaving it alone",
                                     vm.description.name, because),
                         {{"VM", vm.description.name}}});
  foreign_[vm.description.id] = std::move(because);
}

/// Where only one node can be a home everybody lives there, pinned or not. That is nothing to be
/// ordered, remembered or told.
void Controller::settle_on_only_home() {
  const std::optional<NodeIndex> only = ledger_.topology().only_home();
  if (!only) {
    return;
  }
  const NodeId node = ledger_.topology().nodes[*only].id;
  for (const auto& [id, vm] : ledger_.vms()) {
    for (std::size_t index = 0; index < vm.clients.size() && !setup_.released.contains(id);
         ++index) {
      const ClientId client{id, static_cast<std::int32_t>(index)};
      if (vm.clients[index].home.value < 0) {
        ledger_.adopt_home(client, node);
        why_here_[client] = "no other node has both memory and CPUs that VMs may use";
      }
    }
  }
}

// ---- what the history knows ----

void Controller::remember_home(const ClientId& client, NodeId home, Effects& effects) {
  setup_.remembered_homes[client] = home;
  effects.homes.push_back({client, home});
}

void Controller::forget_homes_of(const VmId& id, Effects& effects) {
  std::erase_if(setup_.remembered_homes, [&](const auto& entry) { return entry.first.vm == id; });
  effects.homes.push_back({{id, 0}, NodeId{}});
}

/// The history forgets homes by the VM, so if one changed those that stay are told again.
void Controller::remember_homes(const VmId& id, Effects& effects) {
  const VmRecord* vm = ledger_.find(id);
  if (vm == nullptr || ledger_.topology().only_home()) {
    return;
  }
  std::map<ClientId, NodeId> known;
  std::map<ClientId, NodeId> now;
  for (const auto& [client, home] : setup_.remembered_homes) {
    if (client.vm == id) {
      known.emplace(client, home);
    }
  }
  for (std::size_t index = 0; index < vm->clients.size(); ++index) {
    if (vm->clients[index].home.value >= 0) {
      now.emplace(ClientId{id, static_cast<std::int32_t>(index)}, vm->clients[index].home);
    }
  }
  if (now == known) {
    return;
  }
  forget_homes_of(id, effects);
  for (const auto& [client, home] : now) {
    remember_home(client, home, effects);
  }
}

// ---- what others do ----

/// Pins the VM home again. False if that was done too often: somebody else insists.
bool Controller::repair_pins(const VmRecord& vm, Effects& effects) {
  const VmId id = vm.description.id;
  std::int64_t& repairs = repairs_[id];
  if (++repairs > kMostRepairs) {
    if (repairs == kMostRepairs + 1) {
      effects.log.push_back(
          {Severity::kWarning,
           fmt::format("VM '{}' was pinned elsewhere by somebody else {} times, giving in",
                       vm.description.name, repairs),
           {{"VM", vm.description.name}}});
    }
    return false;
  }
  place_at_home_again(
      vm,
      fmt::format("VM '{}' was pinned elsewhere by somebody else, pinning it to its home again",
                  vm.description.name),
      effects);
  return true;
}

/// Gives up the VM's homes so that it is placed anew, where they were, with all its threads.
void Controller::place_at_home_again(const VmRecord& vm, std::string because, Effects& effects) {
  const VmId id = vm.description.id;
  std::vector<NodeId> homes;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientId client{id, static_cast<std::int32_t>(index)};
    homes.push_back(vm.clients[index].home);
    ledger_.forget_home(client);
  }
  ledger_.set_suggested(id, homes);
  remember_homes(id, effects);
  effects.log.push_back({Severity::kNotice, std::move(because), {{"VM", vm.description.name}}});
}

Controller::FoundPins Controller::find_pins(const VmRecord& vm, const PinReader& reader) const {
  const VmId id = vm.description.id;
  const auto repairs = repairs_.find(id);
  const bool is_often = repairs != repairs_.end() && repairs->second >= kMostRepairs;
  FoundPins found;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientRecord& client = vm.clients[index];
    const ClientId client_id{id, static_cast<std::int32_t>(index)};
    const std::vector<CpuId> given = given_cpus(client_id);
    const PinState pins = reader.state_of(vm, client, given);
    const bool has_home = client.home.value >= 0;
    // One that is on its way home has none.
    const bool is_known = has_home || foreign_.contains(id);
    const bool incomplete = pins.kind == Kind::kIncomplete;
    found.homeless = found.homeless || !has_home;
    found.plugged = found.plugged || incomplete;
    if (pins.kind == Kind::kOther || pins.kind == Kind::kGone ||
        (incomplete && pins.node != client.home && is_known)) {
      found.foreign = foreign_text(given);
    } else if (pins.kind == Kind::kFree && has_home && is_often) {
      found.foreign = "its pins are removed whenever they are made";
    } else if ((pins.kind == Kind::kFree && has_home) ||
               (pins.kind == Kind::kOneNode && pins.node != client.home && is_known)) {
      found.elsewhere.emplace_back(client_id, pins);
    }
  }
  return found;
}

void Controller::heed_foreign_pins(Effects& effects) {
  if (setup_.mode != Mode::kActive || (setup_.repairs_pins && !acts())) {
    return;
  }
  const PinReader reader(ledger_.topology());
  for (const auto& [id, vm] : ledger_.vms()) {
    const auto settled = settled_since_.find(id);
    const bool moving = std::any_of(vm.clients.begin(), vm.clients.end(),
                                    [](const ClientRecord& client) { return client.moving; });
    if (moving || setup_.released.contains(id) ||
        (settled != settled_since_.end() && snapshot_.epoch - settled->second < kSettledAfter)) {
      continue;
    }
    const FoundPins found = find_pins(vm, reader);
    if (outdated_.contains(id)) {
      renew_pins(vm, found);
    } else if (ledger_.topology().only_home()) {
      heed_on_only_home(vm, found, effects);
    } else {
      heed_pins_of(vm, found, effects);
    }
  }
}

void Controller::heed_pins_of(const VmRecord& vm, const FoundPins& found, Effects& effects) {
  const VmId id = vm.description.id;
  if (found.plugged && found.foreign.empty() && found.elsewhere.empty()) {
    if (acts() && !found.homeless) {
      place_at_home_again(
          vm, fmt::format("VM '{}' has new vCPUs, pinning them to its home", vm.description.name),
          effects);
    }
    return;
  }
  if (setup_.repairs_pins && (!found.foreign.empty() || !found.elsewhere.empty()) &&
      !found.homeless && !foreign_.contains(id) && repair_pins(vm, effects)) {
    return;
  }
  if (const auto repairs = repairs_.find(id); setup_.repairs_pins && found.homeless &&
                                              repairs != repairs_.end() &&
                                              repairs->second <= kMostRepairs) {
    return;  // it is on its way home
  }
  if (!setup_.repairs_pins &&
      std::any_of(found.elsewhere.begin(), found.elsewhere.end(),
                  [](const auto& entry) { return entry.second.kind == Kind::kFree; })) {
    ++repairs_[id];
  }
  for (const auto& [client, pins] : found.elsewhere) {
    const bool taken = pins.kind == Kind::kOneNode;
    effects.log.push_back(
        {Severity::kNotice,
         taken ? fmt::format(
                     "VM '{}' was pinned to node {} by somebody else, taking that as its home",
                     vm.description.name, pins.node.value)
               : fmt::format("the pins of VM '{}' were removed by somebody else, placing it anew",
                             vm.description.name),
         {{"VM", vm.description.name}}});
    if (taken) {
      ledger_.adopt_home(client, pins.node);
      why_here_[client] = "somebody else pinned it to this node";
    } else {
      ledger_.forget_home(client);
    }
    remember_homes(id, effects);
  }
  heed_insistence(vm, found, effects);
}

/// Who is pinned by somebody else is left alone for as long as that lasts.
void Controller::heed_insistence(const VmRecord& vm, const FoundPins& found, Effects& effects) {
  const VmId id = vm.description.id;
  if (!found.foreign.empty() && !foreign_.contains(id)) {
    leave_to_others(vm, found.foreign, effects);
  } else if (found.foreign.empty() && foreign_.erase(id) > 0) {
    effects.log.push_back(
        {Severity::kNotice,
         fmt::format("VM '{}' is no longer pinned by somebody else, managing it again",
                     vm.description.name),
         {{"VM", vm.description.name}}});
  }
}

/// Pins to the only home say no more than none; only what was given of it counts.
void Controller::heed_on_only_home(const VmRecord& vm, const FoundPins& found, Effects& effects) {
  const VmId id = vm.description.id;
  const bool lost = narrow_.contains(id) && (found.plugged || !found.elsewhere.empty());
  if (lost && found.foreign.empty() && acts()) {
    ++repairs_[id];
    narrow_.erase(id);  // what it shall have is given to it anew
    effects.log.push_back(
        {Severity::kNotice,
         fmt::format("VM '{}' is not pinned to the CPUs that it was given, pinning it again",
                     vm.description.name),
         {{"VM", vm.description.name}}});
    return;
  }
  heed_insistence(vm, found, effects);
}

// ---- what becomes of homes when the host changes ----

/// Of a VM whose pins were made for the host, or for its clients, as they were before: they are
/// nobody else's. Where they do not fit its homes the next assignment of CPUs mends them.
void Controller::renew_pins(const VmRecord& vm, const FoundPins& found) {
  const VmId id = vm.description.id;
  const bool fits = found.foreign.empty() && !found.plugged;
  const bool needs_none = ledger_.topology().only_home() && !narrow_.contains(id);
  if (fits || (needs_none && found.foreign.empty())) {
    outdated_.erase(id);
    repairs_.erase(id);
    return;
  }
  if (needs_none || found.homeless || !can_be_assigned(vm)) {
    return;  // it is well as it is, is going to be placed, or has to wait
  }
  if (++repairs_[id] > kMostRepairs) {
    outdated_.erase(id);
    return;
  }
  narrow_[id] = pins_as_given(vm);
}

/// VMs whose vCPUs make other clients now have the pins of the former ones.
void Controller::note_regrouped(const std::map<VmId, std::map<std::int32_t, std::size_t>>& before) {
  for (const auto& [id, vm] : ledger_.vms()) {
    const auto former = before.find(id);
    if (former == before.end() || foreign_.contains(id) || setup_.released.contains(id)) {
      continue;
    }
    for (const auto& [vcpu, client] : clients_of_vcpus(vm)) {
      const auto known = former->second.find(vcpu);
      if (known != former->second.end() && known->second != client) {
        outdated_.emplace(id, snapshot_.epoch);
      }
    }
  }
}

std::map<VmId, std::map<std::int32_t, std::size_t>> Controller::groups() const {
  std::map<VmId, std::map<std::int32_t, std::size_t>> groups;
  for (const auto& [id, vm] : ledger_.vms()) {
    groups.emplace(id, clients_of_vcpus(vm));
  }
  return groups;
}

/// Homes that were assumed - where nobody was pinned, or everybody lived on one node - are given up
/// for those that the pins tell.
void Controller::find_homes_again(Effects& effects) {
  const PinReader reader(ledger_.topology());
  for (const auto& [id, vm] : ledger_.vms()) {
    if (setup_.released.contains(id)) {
      continue;
    }
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientId client{id, static_cast<std::int32_t>(index)};
      const PinState pins = reader.state_of(vm, vm.clients[index], given_cpus(client));
      if (pins.kind == Kind::kOneNode && !foreign_.contains(id)) {
        ledger_.adopt_home(client, pins.node);
      } else {
        ledger_.forget_home(client);
      }
    }
    remember_homes(id, effects);
  }
}

void Controller::handle(const TopologyChanged& event, Effects& effects) {
  if (event.topology == setup_.topology && event.measured == setup_.measured_memory) {
    return;
  }
  setup_.measured_memory = event.measured;
  if (event.topology.nodes == setup_.topology.nodes) {
    take_distances(event.topology, effects);
    return;
  }
  const bool had_only_home = setup_.topology.only_home().has_value();
  setup_.topology = event.topology;
  ledger_.set_topology(event.topology);
  take_measured_stall();
  apply_domains(effects);
  last_placed_on_ = kNoNode;
  effects.log.push_back(
      {Severity::kNotice,
       fmt::format("the host's topology changed, it has {} nodes now", event.topology.nodes.size()),
       {}});
  for (const auto& [id, vm] : ledger_.vms()) {
    if (!foreign_.contains(id) && !setup_.released.contains(id)) {
      outdated_.emplace(id, snapshot_.epoch);
    }
  }
  if (had_only_home && !event.topology.only_home()) {
    find_homes_again(effects);
  }
}

}  // namespace vmnuma::balancer
