// SPDX-License-Identifier: Apache-2.0
/// A VM's description as a text, for golden files.
#pragma once

#include <string>

#include "placement/model/domain.h"

namespace vmnuma::tests {

/// A line for each fact, of what is not empty a line for each entry. Its policy is not in it.
[[nodiscard]] std::string description_text(const VmDescription& vm);

}  // namespace vmnuma::tests
