// SPDX-License-Identifier: Apache-2.0
/// The rules of a plan that can be checked on a snapshot alone. For validator.cc only.
#pragma once

#include <string>
#include <vector>

#include "balancer/core/planner.h"

namespace vmnuma::balancer {

/// "'web'/0"
[[nodiscard]] std::string client_name(const Snapshot& snapshot, ClientIndex client);

/// Returns the switches, intervals and thresholds that keep the action out of this epoch's plan.
[[nodiscard]] std::vector<std::string> broken_by_time(const Action& action,
                                                      const Snapshot& snapshot,
                                                      const Options& options,
                                                      const Circumstances& circumstances);

/// Returns why this client may not be moved, placed or pulled, or not to that node.
[[nodiscard]] std::vector<std::string> broken_by_client(Reason reason, ClientIndex client,
                                                        NodeIndex to, const Snapshot& snapshot,
                                                        const Options& options);

}  // namespace vmnuma::balancer
