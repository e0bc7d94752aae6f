// SPDX-License-Identifier: Apache-2.0
/// What must hold of values that come out of a file before a controller is given them.
///
/// Problem: the controller trusts what it is made of and told, because the daemon's readers have
/// checked it; a recording may be damaged, made by another version or by somebody who wants to harm
/// its reader, and indexes, orders and sizes that do not fit each other are read beyond what is
/// there. Approach: reading frames checks each number by its type - enumerators, ranges of integers
/// and amounts (frame.cc); here is what has to fit together.
///
/// Terms: *sound* - nothing in it leads the controller out of its arrays or numbers out of their
/// range.
///
/// Properties:
///  - whatever a daemon records is sound;
///  - a controller that is sound stays so with every event that is.
#pragma once

#include "balancer/controller/controller.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Error: corrupt, naming the first thing that is not as it must be.
[[nodiscard]] Result<void> check_state(const Controller& controller);

/// Whether a controller with this ledger may be given the event. Error: as above.
[[nodiscard]] Result<void> check_event(const Event& event, const Ledger& ledger);

}  // namespace vmnuma::balancer
