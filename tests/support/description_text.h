// SPDX-License-Identifier: Apache-2.0
/// Formats a VM's description as text, for golden files.
#pragma once

#include <string>

#include "placement/model/domain.h"

namespace vmnuma::tests {

/// Returns a line for each fact, and a line for each entry of lists. The policy is not included.
[[nodiscard]] std::string description_text(const VmDescription& vm);

}  // namespace vmnuma::tests
