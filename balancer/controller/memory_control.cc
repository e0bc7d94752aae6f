// SPDX-License-Identifier: Apache-2.0
// Memory that is protected and limited by class: what is asked of the memory controllers each
// epoch.
#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/node_lists.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::MemoryClass;
using placement::MemoryProtection;
using placement::VmId;

void Controller::take(MemorySteering::Steps steps, Effects& effects) {
  for (std::string& notice : steps.notices) {
    effects.log.push_back({Severity::kWarning, std::move(notice), {}});
  }
  effects.memory.insert(effects.memory.end(), steps.changes.begin(), steps.changes.end());
  if (steps.originals_changed) {
    effects.memory_originals = memory_steering_.originals();
  }
}

/// What each VM with a class is to have. Reservations beyond what its nodes have would end in the
/// OOM killer, so such VMs are protected like burstable ones. Who has his reservation keeps it, and
/// VMs that were told where to start go before those that have none yet.
std::vector<MemoryWish> Controller::memory_wishes(Effects& effects) {
  const Bytes swap = host_memory_.swap.value_or(Bytes{});
  std::vector<MemoryWish> wishes;
  std::vector<std::size_t> held;
  std::vector<std::size_t> asked;
  for (const auto& [id, vm] : ledger_.vms()) {
    if (setup_.released.contains(id) || !vm.last || !vm.last->memory_state) {
      continue;
    }
    const placement::MemoryState& state = *vm.last->memory_state;
    const std::optional<MemoryProtection> protection =
        protection_of(vm.description, swap, setup_.options);
    if (!protection) {
      continue;
    }
    if (protection->min > Bytes{}) {
      (state.limits.min >= protection->min ? held : asked).push_back(wishes.size());
    }
    wishes.push_back({id, vm.description.name, vm.last->process, state, *protection});
  }
  placement::KeptMemory kept(capacity_to_promise(Bytes{}));
  for (const std::size_t wish : held) {
    reserve(wishes[wish], kept, effects);
  }
  keep_for_expected(kept, Bytes{}, VmId{});
  for (const std::size_t wish : asked) {
    reserve(wishes[wish], kept, effects);
  }
  return wishes;
}

/// On the VM's homes together, or it is protected otherwise.
void Controller::reserve(MemoryWish& wish, placement::KeptMemory& kept, Effects& effects) {
  const VmRecord& vm = *ledger_.find(wish.vm);
  const Bytes memory = wish.protection.min;
  const std::vector<placement::NodeIndex> group =
      group_of(indices_of(homes_of(vm), ledger_.topology()), Bytes{}, memory);
  if (kept.keep(group, memory)) {
    not_reserved_.erase(wish.vm);
    return;
  }
  placement::VmDescription burstable = vm.description;
  burstable.policy.memory_class = MemoryClass::kBurstable;
  wish.protection = *protection_of(burstable, host_memory_.swap.value_or(Bytes{}), setup_.options);
  if (not_reserved_.insert(wish.vm).second) {
    std::vector<placement::NodeId> nodes;
    for (const placement::NodeIndex node : group) {
      nodes.push_back(ledger_.topology().nodes[node].id);
    }
    std::sort(nodes.begin(), nodes.end());
    effects.log.push_back(
        {Severity::kWarning,
         fmt::format("VM '{}' cannot be guaranteed {} MiB: nodes {} have {} MiB left beside what "
                     "others are guaranteed, so it is protected like a burstable one",
                     wish.name, memory.value / placement::kMiB.value, placement::to_list(nodes),
                     kept.most(group).value / placement::kMiB.value),
         {{"VM", wish.name}}});
  }
}

/// From the newest readings, those of VMs that could not be read in this epoch among them.
void Controller::steer_memory(Effects& effects) {
  if (!acts()) {
    return;
  }
  placement::Sample sample;
  sample.sequence = host_memory_.sequence;
  sample.slices = host_memory_.slices;
  sample.protection_inherited = host_memory_.protection_inherited;
  for (const auto& [id, vm] : ledger_.vms()) {
    if (vm.last) {
      sample.vms.push_back(*vm.last);
    }
  }
  std::vector<MemoryWish> wishes;
  if (setup_.options.mem_qos_enable != 0) {
    wishes = memory_wishes(effects);
  }
  take(memory_steering_.steer(sample, wishes), effects);
}

void Controller::forget_memory_of_ended(Effects& effects) {
  std::set<VmId> running;
  for (const auto& [id, vm] : ledger_.vms()) {
    running.insert(id);
  }
  std::erase_if(not_reserved_, [&](const VmId& id) { return !running.contains(id); });
  take(memory_steering_.keep_only(running), effects);
}

bool Controller::has_changed_memory_of(const VmId& vm) const {
  const MemoryOriginals& originals = memory_steering_.originals();
  return std::any_of(originals.begin(), originals.end(),
                     [&](const auto& entry) { return entry.second.vm == vm; });
}

void Controller::handle(const MemoryLimitsSet& event, Effects& effects) {
  take(memory_steering_.answered(event.path, event.problem), effects);
}

}  // namespace vmnuma::balancer
