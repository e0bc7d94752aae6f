// SPDX-License-Identifier: Apache-2.0
/// Turns actions into orders, and updates the state when orders end. Internal to this folder.
///
/// Properties:
///  1. Homes, CPUs and originals are recorded when an order is given. If it ends undone or dropped,
///     the homes and CPUs that it changed revert to what they were before it.
///  2. A VM rests after a failed order, for a time that doubles with every failure. An order that
///     is dropped for a younger one has not failed.
///  3. If restoring a VM fails, it stays managed: it is not as it was found.
///  4. Nothing is remembered of a VM that ended during its order.
///  5. When an order given by an earlier run of the daemon ends undone, the pins of its VMs are
///     read again.
#pragma once

#include "balancer/controller/controller_state.h"

namespace vmnuma::balancer {

/// Gives an order for the action, if it changes anything. `pins` are those after its relocations.
void give_order(ControllerState& state, const Action& action, const CpuPins& pins,
                Effects& effects);
inline void give_order(ControllerState& state, const Action& action, Effects& effects) {
  give_order(state, action, state.cpu_pins(action.relocations), effects);
}

/// Gives an order for a change that is not part of a plan. Returns its number.
std::int64_t give_order(ControllerState& state, UnderWay order, migration::VmChange change,
                        Effects& effects);

/// Logs what an order for the action would do, where none may be given.
void say_would_do(const ControllerState& state, const Action& action, Effects& effects);

/// Handles the progress or the end of an order.
void progress_order(ControllerState& state, const migration::ActionEvent& event, Effects& effects);

/// Gives up the VM's homes and orders that it be restored to how it was found. Returns a sentence
/// about that, and the order's number if an order was needed.
DoneView restore_vm(ControllerState& state, const VmRecord& vm, Effects& effects);

}  // namespace vmnuma::balancer
