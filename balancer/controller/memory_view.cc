// SPDX-License-Identifier: Apache-2.0
// The controller's answer to `memory`: the memory of the host, VM by VM, and which VMs would lose
// memory first.
#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/commands.h"
#include "placement/memory_qos.h"
#include "placement/memory_victims.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

std::optional<std::int64_t> bytes_of(const std::optional<Bytes>& bytes) {
  return bytes ? std::optional(bytes->value) : std::nullopt;
}

std::string mib_text(Bytes bytes) {
  return fmt::format("{} MiB", bytes / kMiB.value == Bytes{}
                                   ? std::string("less than 1")
                                   : std::to_string(bytes.value / kMiB.value));
}

VmMemoryView view_of(const VmRecord& vm, const HostMemory& host) {
  VmMemoryView view;
  view.vm = vm.description.name;
  view.vm_uuid = to_text(vm.description.id);
  view.memory_class = name_of(vm.description.policy.memory_class);
  view.size_bytes = vm.description.memory.value;
  view.not_reclaimable =
      why_not_reclaimable(vm.description, host.swap.value_or(Bytes{})).value_or("");
  for (const Bytes bytes : vm.memory.value_or(std::vector<Bytes>{})) {
    view.node_bytes.push_back(bytes.value);
  }
  if (!vm.last || !vm.last->memory_state) {
    return view;
  }
  const MemoryState& state = *vm.last->memory_state;
  view.known = true;
  view.anonymous_bytes = state.anonymous.value;
  view.shared_bytes = state.shared.value;
  view.file_bytes = state.file.value;
  view.swap_bytes = state.swap.value;
  view.unevictable_bytes = state.unevictable.value;
  view.min_bytes = state.limits.min.value;
  view.low_bytes = state.limits.low.value;
  view.high_bytes = bytes_of(state.limits.high);
  view.max_bytes = bytes_of(state.limits.max);
  view.swap_max_bytes = bytes_of(state.limits.swap_max);
  if (state.waits_some && state.waits_full) {
    view.waits_some_permille = state.waits_some->value;
    view.waits_full_permille = state.waits_full->value;
  }
  view.oom_score_adj = state.oom_score_adj;
  return view;
}

MemoryUser user_of(const VmRecord& vm, const HostMemory& host) {
  const MemoryState& state = *vm.last->memory_state;
  const Bytes charged = state.anonymous + state.shared + state.file;
  MemoryUser user;
  user.guest = state.anonymous + state.shared;
  user.file = state.file;
  user.unevictable = state.unevictable;
  user.swap = state.swap;
  user.high = state.limits.high;
  user.may_swap = host.swap.value_or(Bytes{}) > Bytes{} &&
                  (!state.limits.swap_max || *state.limits.swap_max > state.swap);
  user.oom_score_adj = state.oom_score_adj;
  if (host.protection_inherited != false) {  // otherwise it does not reach QEMU's own group
    user.min = std::min(state.limits.min, charged);
    user.low = std::min(state.limits.low, charged);
  }
  return user;
}

/// Limits one kind of protection to what the slices above have, from the innermost slice to the
/// outermost.
void cut_to_slices(const std::vector<const VmRecord*>& vms, const HostMemory& host,
                   Bytes MemoryUser::*protection, Bytes MemoryLimits::*limit,
                   std::vector<MemoryUser>& users) {
  for (auto slice = host.slices.rbegin(); slice != host.slices.rend(); ++slice) {
    std::vector<std::size_t> inside;
    std::vector<Bytes> claimed;
    for (std::size_t i = 0; i < vms.size(); ++i) {
      if (vms[i]->last->memory_state->scope.starts_with(slice->path + "/")) {
        inside.push_back(i);
        claimed.push_back(users[i].*protection);
      }
    }
    const std::vector<Bytes> effective =
        effective_protection(std::move(claimed), slice->limits.*limit);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      users[inside[i]].*protection = effective[i];
    }
  }
}

std::string reclaim_sentence(const ReclaimPlace& place, const MemoryUser& user) {
  switch (place.turn) {
    case ReclaimTurn::kAboveHigh:
      return fmt::format(
          "it is above memory.high and has to reclaim its own memory, of which {} can be taken",
          mib_text(place.takeable));
    case ReclaimTurn::kUnprotected:
      return fmt::format("nothing protects {} of its memory", mib_text(place.takeable));
    case ReclaimTurn::kBelowLow:
      return fmt::format("memory.low protects {} as long as others have unprotected memory",
                         mib_text(place.takeable));
    case ReclaimTurn::kNever:
      if (user.min >= user.guest + user.file) {
        return "memory.min protects all that it has";
      }
      return user.unevictable > Bytes{} ? "the rest is locked or protected"
                                        : "what is not protected cannot be moved to swap or disk";
  }
  return "";
}

std::string kill_sentence(const KillPlace& place, const MemoryUser& user) {
  std::string sentence =
      fmt::format("{} of memory and swap count", mib_text(user.guest + user.swap));
  if (user.oom_score_adj != 0) {
    sentence += fmt::format(", with oom_score_adj {} as much as {} MiB", user.oom_score_adj,
                            place.badness.value / kMiB.value);
  }
  return sentence;
}

}  // namespace

/// VMs are ordered by name. One that has not been read yet is listed without figures.
Result<MemoryView> reply_to(const ControllerState& state, const MemoryRequest& /*request*/) {
  const Ledger& ledger = state.ledger;
  const HostMemory& host = state.memory.host();
  MemoryView view;
  view.enabled = ledger.options().mem_qos_enable != 0;
  view.memory_bytes = host.total.value;
  view.swap_bytes = bytes_of(host.swap);
  view.protection_inherited = host.protection_inherited;
  view.nodes = ledger.topology().all_ids();
  std::vector<const VmRecord*> vms;
  for (const auto& [id, vm] : ledger.vms()) {
    vms.push_back(&vm);
  }
  std::ranges::stable_sort(
      vms, {}, [](const VmRecord* vm) -> const std::string& { return vm->description.name; });
  for (const VmRecord* vm : vms) {
    view.vms.push_back(view_of(*vm, host));
  }
  std::erase_if(vms, [](const VmRecord* vm) { return !vm->last || !vm->last->memory_state; });
  std::vector<MemoryUser> users;
  users.reserve(vms.size());
  for (const VmRecord* vm : vms) {
    users.push_back(user_of(*vm, host));
  }
  cut_to_slices(vms, host, &MemoryUser::min, &MemoryLimits::min, users);
  cut_to_slices(vms, host, &MemoryUser::low, &MemoryLimits::low, users);
  for (const ReclaimPlace& place : reclaim_order(users)) {
    view.reclaimed_first.push_back({vms[place.user]->description.name, place.takeable.value,
                                    reclaim_sentence(place, users[place.user])});
  }
  for (const KillPlace& place : kill_order(users, host.total + host.swap.value_or(Bytes{}))) {
    view.killed_first.push_back({vms[place.user]->description.name, place.badness.value,
                                 kill_sentence(place, users[place.user])});
  }
  return view;
}

}  // namespace vmnuma::balancer
