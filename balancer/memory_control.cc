// SPDX-License-Identifier: Apache-2.0
// Memory that is protected and limited by class: what is asked of the memory controllers each
// epoch.
#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller.h"

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

/// What each VM with a class is to have. Reservations beyond what the host has would end in the OOM
/// killer, so those VMs are protected like burstable ones.
std::vector<MemoryWish> Controller::memory_wishes(Effects& effects) {
  const Bytes swap = host_memory_.swap.value_or(Bytes{});
  std::vector<MemoryWish> wishes;
  std::vector<const placement::VmDescription*> reserving;
  std::vector<std::size_t> wish_of;
  std::vector<placement::Reservation> reservations;
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
      reserving.push_back(&vm.description);
      wish_of.push_back(wishes.size());
      reservations.push_back({protection->min, state.limits.min >= protection->min});
    }
    wishes.push_back({id, vm.description.name, vm.last->process, state, *protection});
  }
  const Bytes room =
      placement::scaled(host_memory_.total, 100 - setup_.options.node_reserve_pct, 100);
  const std::vector<bool> fits = placement::granted(reservations, room);
  for (std::size_t i = 0; i < reservations.size(); ++i) {
    const placement::VmDescription& vm = *reserving[i];
    if (fits[i]) {
      not_reserved_.erase(vm.id);
      continue;
    }
    placement::VmDescription burstable = vm;
    burstable.policy.memory_class = MemoryClass::kBurstable;
    wishes[wish_of[i]].protection = *protection_of(burstable, swap, setup_.options);
    if (not_reserved_.insert(vm.id).second) {
      effects.log.push_back(
          {Severity::kWarning,
           fmt::format("VM '{}' cannot be guaranteed {} MiB: the host has {} MiB for all such VMs, "
                       "so it is protected like a burstable one",
                       vm.name, reservations[i].asked.value / placement::kMiB.value,
                       room.value / placement::kMiB.value),
           {{"VM", vm.name}}});
    }
  }
  return wishes;
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
