// SPDX-License-Identifier: Apache-2.0
/// What becomes of a VM that is about to start and whose policy cannot be met.
#pragma once

#include <string_view>

namespace vmnuma::balancer {

enum class AdmissionMode {
  kEnforce,  ///< it does not start, while the daemon is in mode active
  kAdvise,   ///< it starts, and what would have been refused is said
};

/// The name in the configuration, the protocol and the manual.
[[nodiscard]] constexpr std::string_view name_of(AdmissionMode admission) {
  return admission == AdmissionMode::kEnforce ? "enforce" : "advise";
}

}  // namespace vmnuma::balancer
