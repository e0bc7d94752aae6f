// SPDX-License-Identifier: Apache-2.0
// Memory mode `mask` leaves a VM's set of nodes on its last homes. One that is masked no longer
// gets what was found added to its set again.
#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::VmId;

namespace {

/// Epochs until it is tried again; libvirt tells of the change long before.
constexpr std::int64_t kRetryAfter = 30;
constexpr std::int64_t kMostTries = 3;

}  // namespace

void Controller::free_from_masks(Effects& effects) {
  if (!acts()) {
    return;
  }
  for (const auto& [id, vm] : ledger_.vms()) {
    const auto noted = setup_.originals.find(id);
    const bool is_masked = vm.description.policy.memory_mode == placement::MemoryMode::kMask;
    if (is_masked || !vm.last || noted == setup_.originals.end() ||
        noted->second.process != vm.last->process || setup_.released.contains(id) ||
        foreign_.contains(id) || vm.transferring) {
      continue;
    }
    const migration::MemoryChange wider =
        widened_as_found(vm.description, noted->second, ledger_.topology());
    if (wider.allowed_after.empty()) {
      freeing_.erase(id);
      continue;
    }
    Freeing& freeing = freeing_[id];
    if (freeing.process != vm.last->process) {
      freeing = {.process = vm.last->process, .tries = 0, .last_try = 0};
    }
    if (freeing.tries >= kMostTries ||
        (freeing.tries > 0 && snapshot_.epoch - freeing.last_try < kRetryAfter)) {
      continue;
    }
    ++freeing.tries;
    freeing.last_try = snapshot_.epoch;
    migration::VmChange change;
    change.vm = id;
    change.vm_name = vm.description.name;
    change.process = vm.last->process;
    change.domain_id = vm.description.domain_id;
    change.memory = wider;
    change.memory_mode = vm.description.policy.memory_mode;
    effects.log.push_back(
        {Severity::kNotice,
         fmt::format("VM '{}' has memory mode mask no longer, its memory may use nodes {}",
                     vm.description.name, placement::to_list(wider.allowed_after)),
         {{"VM", vm.description.name}}});
    under_way_.emplace(next_action_,
                       UnderWay{{placement::Reason::kAdministrator, {}, {}}, {}, {}, false, false});
    effects.orders.push_back({next_action_++,
                              snapshot_.epoch,
                              placement::Reason::kAdministrator,
                              {std::move(change)},
                              {}});
  }
  std::erase_if(freeing_, [&](const auto& entry) { return ledger_.find(entry.first) == nullptr; });
}

}  // namespace vmnuma::balancer
