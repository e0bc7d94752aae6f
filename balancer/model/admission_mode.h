// SPDX-License-Identifier: Apache-2.0
/// What happens to a VM that is about to start with a policy that cannot be met.
#pragma once

#include <string_view>

#include "placement/base/names.h"

namespace vmnuma::balancer {

enum class AdmissionMode {
  kEnforce,  ///< it does not start, while the daemon is in mode active
  kAdvise,   ///< it starts, and what would have been refused is reported
};

/// The name in the configuration, the protocol and the manual.
[[nodiscard]] constexpr auto names(AdmissionMode) {
  return names_in_order<AdmissionMode>("enforce", "advise");
}

}  // namespace vmnuma::balancer
