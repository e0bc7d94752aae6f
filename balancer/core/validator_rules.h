// SPDX-License-Identifier: Apache-2.0
/// The rules of a plan that can be checked on a snapshot alone. For validator.cc only.
#pragma once

#include <string>
#include <vector>

#include "balancer/core/planner.h"

namespace vmnuma::balancer {

/// "'web'/0"
[[nodiscard]] std::string client_name(const placement::Snapshot& snapshot,
                                      placement::ClientIndex client);

/// Which switches, intervals and thresholds keep the action out of this epoch's plan.
[[nodiscard]] std::vector<std::string> broken_by_time(const placement::Action& action,
                                                      const placement::Snapshot& snapshot,
                                                      const placement::Options& options,
                                                      const Circumstances& circumstances);

/// Why this client may not be moved, placed or pulled, or not to that node.
[[nodiscard]] std::vector<std::string> broken_by_client(placement::Reason reason,
                                                        placement::ClientIndex client,
                                                        placement::NodeIndex to,
                                                        const placement::Snapshot& snapshot,
                                                        const placement::Options& options);

}  // namespace vmnuma::balancer
