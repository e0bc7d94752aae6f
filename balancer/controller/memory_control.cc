// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/memory_control.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/model/text.h"

namespace vmnuma::balancer {

void MemoryControl::sampled(const Topology& topology, const Sample& sample) {
  host_ = {sample.sequence, {}, sample.swap_total, sample.slices, sample.protection_inherited};
  for (const Node& node : topology.nodes) {
    host_.total += node.memory;
  }
}

void MemoryControl::take(MemorySteering::Steps steps, Effects& effects) {
  for (std::string& notice : steps.notices) {
    effects.say(Severity::kWarning, std::move(notice));
  }
  effects.memory.insert(effects.memory.end(), steps.changes.begin(), steps.changes.end());
  if (steps.originals_changed) {
    effects.memory_originals = steering_.originals();
  }
}

/// What should be in force for each VM with a class.
std::vector<MemoryWish> MemoryControl::wishes(const Settings& settings, const Ledger& ledger,
                                              const ManagedVms& vms, const Guarantees& guarantees,
                                              Effects& effects) {
  const Bytes swap = host_.swap.value_or(Bytes{});
  std::vector<MemoryWish> wishes;
  std::vector<std::size_t> held;
  std::vector<std::size_t> asked;
  for (const auto& [id, vm] : ledger.vms()) {
    if (vms.of(id).released || !vm.last || !vm.last->memory_state) {
      continue;
    }
    const MemoryState& state = *vm.last->memory_state;
    const std::optional<MemoryProtection> protection =
        protection_of(vm.description, swap, settings.options);
    if (!protection) {
      continue;
    }
    if (protection->min > Bytes{}) {
      (state.limits.min >= protection->min ? held : asked).push_back(wishes.size());
    }
    wishes.push_back({id, vm.description.name, vm.last->process, state, *protection});
  }
  KeptMemory kept(guarantees.capacity(Bytes{}));
  for (const std::size_t wish : held) {
    reserve(settings, ledger, guarantees, wishes[wish], kept, effects);
  }
  guarantees.keep_for_starting(kept, Bytes{}, VmId{});
  for (const std::size_t wish : asked) {
    reserve(settings, ledger, guarantees, wishes[wish], kept, effects);
  }
  return wishes;
}

/// Reserves the memory on the VM's homes jointly; if that fails the VM is protected like a
/// burstable one.
void MemoryControl::reserve(const Settings& settings, const Ledger& ledger,
                            const Guarantees& guarantees, MemoryWish& wish, KeptMemory& kept,
                            Effects& effects) {
  const VmRecord& vm = *ledger.find(wish.vm);
  const Bytes memory = wish.protection.min;
  const std::vector<NodeIndex> group =
      guarantees.group_of(ledger.topology().indices_of(homes_of(vm)), Bytes{}, memory);
  if (kept.keep(group, memory)) {
    not_reserved_.erase(wish.vm);
    return;
  }
  VmDescription burstable = vm.description;
  burstable.policy.memory_class = MemoryClass::kBurstable;
  wish.protection = *protection_of(burstable, host_.swap.value_or(Bytes{}), settings.options);
  if (not_reserved_.insert(wish.vm).second) {
    std::vector<NodeId> nodes = ledger.topology().ids_of(group);
    std::ranges::sort(nodes);
    effects.say_of_vm(
        wish.name, Severity::kWarning,
        fmt::format("VM '{}' cannot be guaranteed {} MiB: nodes {} have {} MiB left after what is "
                    "guaranteed to others, so its memory is protected as that of a burstable VM",
                    wish.name, memory.value / kMiB.value, to_list(nodes),
                    kept.most(group).value / kMiB.value));
  }
}

void MemoryControl::steer(const Settings& settings, const Ledger& ledger, const ManagedVms& vms,
                          const Guarantees& guarantees, Effects& effects) {
  Sample sample;
  sample.sequence = host_.sequence;
  sample.slices = host_.slices;
  sample.protection_inherited = host_.protection_inherited;
  for (const auto& [id, vm] : ledger.vms()) {
    if (vm.last) {
      sample.vms.push_back(*vm.last);
    }
  }
  std::vector<MemoryWish> wished;
  if (settings.options.mem_qos_enable != 0) {
    wished = wishes(settings, ledger, vms, guarantees, effects);
  }
  take(steering_.steer(sample, wished), effects);
}

void MemoryControl::forget_ended(const std::set<VmId>& running, Effects& effects) {
  std::erase_if(not_reserved_, [&](const VmId& id) { return !running.contains(id); });
  take(steering_.keep_only(running), effects);
}

bool MemoryControl::has_changed(const VmId& vm) const {
  const MemoryOriginals& originals = steering_.originals();
  return std::ranges::any_of(originals, [&](const auto& entry) { return entry.second.vm == vm; });
}

void MemoryControl::answered(const MemoryLimitsSet& answer, Effects& effects) {
  take(steering_.answered(answer.path, answer.problem), effects);
}

void MemoryControl::restore_all_limits(Effects& effects) {
  take(steering_.restore_all_limits(), effects);
}

}  // namespace vmnuma::balancer
