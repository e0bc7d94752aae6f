// SPDX-License-Identifier: Apache-2.0
/// What placement/model/domain.h promises of every description of a VM, ends the program if it does
/// not hold.
#pragma once

#include "placement/model/domain.h"

namespace vmnuma::fuzz {

void check_promises(const VmDescription& vm);

}  // namespace vmnuma::fuzz
