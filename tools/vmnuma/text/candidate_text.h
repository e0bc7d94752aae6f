// SPDX-License-Identifier: Apache-2.0
/// A candidate of a plan as printed by `explain` and `plan`.
#pragma once

#include <string>

#include "balancer/model/view.h"

namespace vmnuma::tools {

/// Returns " load-move of CLIENT, node 1 to 0: saves 12 ms per epoch, stopped by no-room" and the
/// sentence below it.
[[nodiscard]] std::string candidate_text(const std::string& who,
                                         const balancer::CandidateView& candidate);

}  // namespace vmnuma::tools
