// SPDX-License-Identifier: Apache-2.0
/// Gives moves to the daemon step by step, each after the previous one is done.
///
/// Terms: *step* - clients that move at the same time, because none of them alone would have room.
///
/// Properties:
///  - a step is given only if every client in it still lives where it did when the steps were
///    computed;
///  - after the first failure or an interruption no further step is begun;
///  - what was done so far is always reported.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "balancer/protocol/request.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

struct StepsTaken {
  std::size_t steps = 0;
  std::int64_t clients = 0;
  bool interrupted = false;
  std::optional<Failure> failure;  ///< of the step that follows
};

/// Carries out the steps. Stops before the step with which more than `at_most` clients would have
/// moved. Says what it does during the run.
[[nodiscard]] StepsTaken take_steps(const Context& context,
                                    const std::vector<balancer::MoveTogetherRequest>& steps,
                                    std::int64_t at_most);

/// Converts an array of steps in the format of optimal_text.h. May throw exceptions of
/// nlohmann::json.
[[nodiscard]] std::vector<balancer::MoveTogetherRequest> steps_from(
    const nlohmann::ordered_json& steps);

}  // namespace vmnuma::tools
