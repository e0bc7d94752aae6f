// SPDX-License-Identifier: Apache-2.0
/// From actions to orders, and from the ends of orders back to what is known. Internal to this
/// folder.
///
/// Properties:
///  1. Homes, CPUs and originals are noted as an order is given; an order that ends undone or
///  dropped takes homes and CPUs back to what they were before it.
///  2. A VM whose order failed rests, for a time that doubles with every failure.
///  3. A VM whose way back failed is managed on: it is not as it was found.
///  4. After the end of an order that an earlier run of the daemon gave, its VMs' pins are read
///  anew.
#pragma once

#include "balancer/controller/controller_state.h"

namespace vmnuma::balancer {

/// Orders what the action asks for, if anything is to be done for it. `pins` are those with its
/// relocations made.
void give_order(ControllerState& state, const placement::Action& action, const CpuPins& pins,
                Effects& effects);
inline void give_order(ControllerState& state, const placement::Action& action, Effects& effects) {
  give_order(state, action, state.cpu_pins(action.relocations), effects);
}

/// A change that no action of a plan asks for.
std::int64_t give_order(ControllerState& state, UnderWay order, migration::VmChange change,
                        Effects& effects);

/// What becomes of an order.
void progress_order(ControllerState& state, const migration::ActionEvent& event, Effects& effects);

/// Gives up the VM's homes and orders what takes it back to how it was found. A sentence about
/// that, and the order's number if one was needed.
DoneView restore_vm(ControllerState& state, const VmRecord& vm, Effects& effects);

}  // namespace vmnuma::balancer
