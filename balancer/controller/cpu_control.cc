// SPDX-License-Identifier: Apache-2.0
// What the controller does about CPUs within homes: pins that are not whole nodes are noted as they
// are ordered, found again after a restart, and changed when the assignment does (cpu_pins.h).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/found_pins.h"
#include "balancer/controller/views.h"
#include "balancer/core/entitlement.h"
#include "balancer/core/new_vm.h"
#include "placement/exclusive_cores.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using migration::PinChange;
using placement::Action;
using placement::Arrangement;
using placement::ClientId;
using placement::CpuId;
using placement::NodeId;
using placement::NodeIndex;
using placement::Reason;
using placement::Relocation;
using placement::Snapshot;
using placement::VmId;
using placement::VmState;

namespace {

bool was_ordered(const Original& original, const ClientRecord& client,
                 const std::vector<CpuId>& cpus) {
  return std::all_of(client.shape.vcpus.begin(), client.shape.vcpus.end(), [&](std::int32_t vcpu) {
    const auto thread = original.threads.find({PinChange::Thread::kVcpu, vcpu});
    return thread != original.threads.end() &&
           std::find(thread->second.ours.begin(), thread->second.ours.end(), cpus) !=
               thread->second.ours.end();
  });
}

}  // namespace

std::set<VmId> Controller::left_alone() const {
  std::set<VmId> vms;
  for (const auto& [id, process] : setup_.released) {
    vms.insert(id);
  }
  for (const auto& [id, how] : foreign_) {
    vms.insert(id);
  }
  return vms;
}

CpuPins Controller::cpu_pins(const std::vector<Relocation>& relocations) const {
  return find_cpu_pins(ledger_, relocations, narrow_, left_alone());
}

std::vector<CpuId> Controller::given_cpus(const ClientId& client) const {
  const auto vm = narrow_.find(client.vm);
  const auto index = static_cast<std::size_t>(client.index);
  return vm == narrow_.end() || index >= vm->second.clients.size() ? std::vector<CpuId>{}
                                                                   : vm->second.clients[index];
}

/// After a restart: the node of which the client has a part, if an order gave it that part.
std::optional<NodeId> Controller::find_given_cpus(const VmRecord& vm, std::size_t index) {
  const ClientRecord& client = vm.clients[index];
  const std::vector<CpuId> cpus = common_pin(vm, client);
  const auto original = setup_.originals.find(vm.description.id);
  if (cpus.empty() || client.pinned_to.value < 0 || original == setup_.originals.end() ||
      !was_ordered(original->second, client, cpus)) {
    return std::nullopt;
  }
  VmCpus& given = narrow_[vm.description.id];
  given.clients.resize(vm.clients.size());
  given.clients[index] = cpus;
  given.reach = vm.description.emulator_pin;
  return client.pinned_to;
}

/// What an order makes of a VM's threads, whose clients have their new homes by now.
void Controller::note_given_cpus(const Action& action, const VmId& id, const CpuPins& pins) {
  const VmRecord* vm = ledger_.find(id);
  if (vm == nullptr) {
    return;
  }
  const VmCpus whole = whole_homes(*vm, ledger_.topology());
  const auto wanted = pins.narrow.find(id);
  const VmCpus& after = wanted == pins.narrow.end() ? whole : wanted->second;
  VmCpus given = whole;
  if (const auto before = narrow_.find(id);
      before != narrow_.end() && before->second.clients.size() == whole.clients.size()) {
    given = before->second;
  }
  for (const Relocation& relocation : action.relocations) {
    const auto index = static_cast<std::size_t>(relocation.client.index);
    if (relocation.client.vm == id && index < given.clients.size()) {
      given.clients[index] = after.clients[index];
      given.reach = after.reach;
    }
  }
  if (given == whole) {
    narrow_.erase(id);
  } else {
    narrow_[id] = std::move(given);
  }
}

/// Its pins may be changed now.
bool Controller::can_be_assigned(const VmRecord& vm) const {
  const VmId& id = vm.description.id;
  const auto rest = rests_.find(id);
  const bool rests = rest != rests_.end() && rest->second.until_epoch > snapshot_.epoch;
  return acts() && vm.last && !rests && !refused_.contains(id) && !foreign_.contains(id) &&
         !setup_.released.contains(id);
}

/// Orders for VMs that stay at home but shall run on other CPUs of it.
void Controller::assign_cpus(Effects& effects) {
  const CpuPins pins = cpu_pins({});
  if (!acts() || (pins.narrow.empty() && narrow_.empty())) {
    return;
  }
  for (const VmState& state : snapshot_.vms) {
    const VmRecord* vm = ledger_.find(state.id);
    const auto wanted = pins.narrow.find(state.id);
    const auto given = narrow_.find(state.id);
    const bool same = wanted == pins.narrow.end()
                          ? given == narrow_.end()
                          : given != narrow_.end() && given->second == wanted->second;
    if (same || vm == nullptr || !can_be_assigned(*vm)) {
      continue;
    }
    Action action{Reason::kCpuAssignment, {}, {}};
    for (std::size_t index = 0; index < vm->clients.size(); ++index) {
      const ClientRecord& client = vm->clients[index];
      const auto home = ledger_.topology().index_of(client.home);
      if (client.moving || client.home.value < 0 || !home) {
        action.relocations.clear();
        break;
      }
      action.relocations.push_back(
          {{state.id, static_cast<std::int32_t>(index)}, *home, *home, {}});
    }
    if (!action.relocations.empty()) {
      order(action, pins, effects);
    }
  }
}

/// Cores that belong to a client alone are nobody else's capacity.
void Controller::count_exclusive_cores() {
  const CpuPins pins = cpu_pins({});
  for (const auto& [id, vm] : ledger_.vms()) {
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientId client{id, static_cast<std::int32_t>(index)};
      const auto cores = pins.exclusive_cores.find(client);
      const std::int32_t count = cores == pins.exclusive_cores.end() ? 0 : cores->second;
      if (count != vm.clients[index].exclusive_cores) {
        ledger_.set_exclusive_cores(client, count);
      }
    }
  }
}

void Controller::explain_cpus(ExplainView& view, const VmId& id) const {
  const CpuPins pins = cpu_pins({});
  const auto narrow = pins.narrow.find(id);
  for (ClientView& client : view.clients) {
    const auto index = static_cast<std::size_t>(client.index);
    const auto home = ledger_.topology().index_of(client.home);
    if (narrow != pins.narrow.end() && index < narrow->second.clients.size() && home &&
        narrow->second.clients[index] != cpus_of(ledger_.topology().nodes[*home])) {
      client.cpus = placement::to_list(narrow->second.clients[index]);
    }
    if (const auto refused = pins.refused.find({id, client.index}); refused != pins.refused.end()) {
      client.no_own_cores = refused->second;
    }
  }
}

/// Why a VM that wants cores of its own cannot have them on this host; nothing if it can.
std::optional<std::string> Controller::why_no_cores(const placement::VmDescription& vm,
                                                    Snapshot snapshot) const {
  NewVm added;
  added.description = vm;
  added.load = ledger_.start_load(vm.id);
  add_vm(snapshot, added, setup_.options);
  share_out(snapshot, setup_.options);
  NodeIndex last_placed_on = last_placed_on_;
  const std::vector<NewHome> homes = place_vm(snapshot, vm.id, setup_.options, last_placed_on);
  const Arrangement now(snapshot, setup_.options, Arrangement::Basis::kLoad);
  for (const NewHome& home : homes) {
    const auto client =
        std::find_if(snapshot.clients.begin(), snapshot.clients.end(),
                     [&](const placement::ClientState& entry) { return entry.id == home.client; });
    const auto index = static_cast<placement::ClientIndex>(client - snapshot.clients.begin());
    if (home.home == placement::kNoNode || free_cores(now, home.home, placement::kNoClient) >= 0) {
      continue;
    }
    std::string text = fmt::format(
        "cpu_binding is 'exclusive', but there are too few cores that could be its own: it asks "
        "for {} on one node. Free were",
        cores_for(vm.policy.cpu_policy, home.vcpus, snapshot.topology.nodes[home.home]));
    for (const NodeIndex node : client->allowed) {
      text += fmt::format(
          "{} on node {} {} of {} cores", node == client->allowed.front() ? "" : ";",
          snapshot.topology.nodes[node].id.value, std::max(free_cores(now, node, index), 0),
          snapshot.topology.nodes[node].core_count());
    }
    return text;
  }
  return std::nullopt;
}

}  // namespace vmnuma::balancer
