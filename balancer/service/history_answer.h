// SPDX-License-Identifier: Apache-2.0
/// Answers `vmnuma history` from the database.
#pragma once

#include <vector>

#include "balancer/protocol/response.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

/// The actions that are asked for. Errors: not-found (a VM that never was, neither in the history
/// nor in `running`), and those of the history. Blocks.
[[nodiscard]] Result<Answer> history_answer(stats::History& history, const HistoryRequest& request,
                                            const std::vector<placement::VmDescription>& running);

}  // namespace vmnuma::balancer
