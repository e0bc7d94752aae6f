// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/widening.h"

namespace vmnuma::balancer {

namespace {

/// In epochs.
constexpr std::int64_t kRetryAfter = 30;
constexpr std::int64_t kMostTries = 3;

}  // namespace

std::optional<migration::VmChange> widen_memory_set(const VmRecord& vm, const Topology& topology,
                                                    std::int64_t epoch, ManagedVm& managed) {
  const bool is_masked = vm.description.policy.memory_mode == MemoryMode::kMask;
  if (is_masked || !vm.last || !managed.original || managed.original->process != vm.last->process ||
      managed.is_left_alone() || vm.transferring) {
    return std::nullopt;
  }
  const migration::MemoryChange wider =
      widened_as_found(vm.description, *managed.original, topology);
  Widening& widening = managed.widening;
  if (wider.allowed_after.empty() || widening.process != vm.last->process) {
    widening = {vm.last->process, 0, 0};
  }
  if (wider.allowed_after.empty() || widening.tries >= kMostTries ||
      (widening.tries > 0 && epoch - widening.last_try < kRetryAfter)) {
    return std::nullopt;
  }
  ++widening.tries;
  widening.last_try = epoch;
  migration::VmChange change = empty_change(vm.description, vm.last->process);
  change.memory = wider;
  return change;
}

}  // namespace vmnuma::balancer
