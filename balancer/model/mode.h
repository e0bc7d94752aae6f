// SPDX-License-Identifier: Apache-2.0
/// What the balancer does with its plans. The administrator chooses one of the first three; a
/// running daemon reports one of the last two instead while it applies.
#pragma once

#include <string_view>

#include "placement/base/names.h"

namespace vmnuma::balancer {

enum class Mode {
  kObserve,   ///< watches and reports; makes no plans
  kDryRun,    ///< makes plans and reports them; carries none out
  kActive,    ///< carries its plans out
  kPaused,    ///< as kDryRun, until `vmnuma resume`
  kDegraded,  ///< a source of data or control is missing; nothing is done that depends on it
};

/// The name in the configuration, the protocol and the manual, for example "dry-run".
[[nodiscard]] constexpr auto names(Mode) {
  return names_in_order<Mode>("observe", "dry-run", "active", "paused", "degraded");
}

}  // namespace vmnuma::balancer
