// SPDX-License-Identifier: Apache-2.0
/// The severity of a line of the log.
#pragma once

#include "placement/base/names.h"

namespace vmnuma::balancer {

enum class Severity { kDebug, kInfo, kNotice, kWarning, kError };

[[nodiscard]] constexpr auto names(Severity) {
  return names_in_order<Severity>("debug", "info", "notice", "warning", "error");
}

}  // namespace vmnuma::balancer
