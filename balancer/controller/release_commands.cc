// SPDX-License-Identifier: Apache-2.0
// The commands `release` and `manage`.
#include <fmt/format.h>

#include "balancer/controller/actions.h"
#include "balancer/controller/commands.h"
#include "balancer/controller/homes.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

constexpr std::string_view kUntil = "it is left alone until 'manage' or its next start";

/// To be called after all other checks, so that dry-run reports their refusals as well.
Result<void> check_changes_pins(const ControllerState& state) {
  if (!state.acts()) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("the daemon is in mode {}, no pin is changed", name_of(state.mode())));
  }
  return {};
}

}  // namespace

Result<DoneView> carry_out(ControllerState& state, const ReleaseRequest& request,
                           Effects& effects) {
  if (request.vm) {
    VMNUMA_ASSIGN_OR_RETURN(const auto vm, state.find_vm(*request.vm));
    if (state.vms.of(vm->description.id).released) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VM '{}' is released already", *request.vm));
    }
    if (!vm->last) {
      return failure(
          ErrorCode::kBusy,
          fmt::format("VM '{}' has not been measured yet, ask again after the next epoch",
                      *request.vm));
    }
    VMNUMA_RETURN_IF_ERROR(check_changes_pins(state));
    DoneView done = restore_vm(state, *vm, effects);
    done.message += fmt::format("; {}", kUntil);
    effects.released = state.vms.each(&ManagedVm::released);
    state.steer_memory(effects);
    return done;
  }
  VMNUMA_RETURN_IF_ERROR(check_changes_pins(state));
  std::size_t released = 0;
  std::size_t unread = 0;
  for (const auto& [id, vm] : state.ledger.vms()) {
    if (state.vms.of(id).released) {
      continue;
    }
    if (!vm.last) {
      ++unread;
      continue;
    }
    (void)restore_vm(state, vm, effects);  // each is logged
    ++released;
  }
  effects.released = state.vms.each(&ManagedVm::released);
  state.steer_memory(effects);
  std::string message = fmt::format(
      "{} VMs are released; each is left alone until 'manage' or its next start", released);
  if (unread > 0) {
    message += fmt::format("; {} are not, because they have not been measured yet", unread);
  }
  return DoneView{std::move(message), std::nullopt};
}

Result<DoneView> carry_out(ControllerState& state, const ManageRequest& request, Effects& effects) {
  std::vector<VmId> taken;
  std::string name;  // of the only VM
  if (request.vm) {
    VMNUMA_ASSIGN_OR_RETURN(const auto vm, state.find_vm(*request.vm));
    taken.push_back(vm->description.id);
    name = vm->description.name;
    if (!state.vms.of(taken.front()).released) {
      return failure(ErrorCode::kInvalidArgument, fmt::format("VM '{}' is managed already", name));
    }
  } else {
    for (const auto& [id, process] : state.vms.each(&ManagedVm::released)) {
      taken.push_back(id);
    }
  }
  Homes homes(state.ledger, state.vms, effects);
  for (const VmId& id : taken) {
    state.vms[id].released.reset();
    state.vms[id].forget_repairs();
    homes.adopt_found(id, state.last.snapshot.epoch);
  }
  effects.released = state.vms.each(&ManagedVm::released);
  const std::string message =
      request.vm ? fmt::format("VM '{}' is managed again from the next epoch on", name)
                 : fmt::format("{} VMs are managed again from the next epoch on", taken.size());
  effects.say_of_vm(name, Severity::kNotice, message);
  return DoneView{message, std::nullopt};
}

}  // namespace vmnuma::balancer
