// SPDX-License-Identifier: Apache-2.0
/// Checks values from a file before they are passed to a controller.
///
/// Problem: the controller trusts its state and input, because the daemon's readers have checked
/// them; a recording may be damaged, made by another version or malicious, and inconsistent
/// indexes, orders and sizes lead to out-of-bounds reads. Approach: reading frames checks each
/// number by its type - enumerators, ranges of integers and amounts (frame.cc); here the relations
/// between values are checked.
///
/// Terms: *sound* - nothing in it makes the controller leave the bounds of its arrays or of its
/// numbers.
///
/// Properties:
///  - whatever a daemon records is sound;
///  - a sound controller stays sound with every sound event.
#pragma once

#include "balancer/controller/controller.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Checks a controller's state. Error: corrupt, naming the first violation.
[[nodiscard]] Result<void> check_state(const Controller& controller);

/// Checks that a controller with this ledger may be given the event. Error: as above.
[[nodiscard]] Result<void> check_event(const Event& event, const Ledger& ledger);

}  // namespace vmnuma::balancer
