// SPDX-License-Identifier: Apache-2.0
/// Moves that the daemon is given one step after the other, each once the one before it is done.
///
/// Terms: *step* - clients that go at the same time, because none has room before. Properties:
///  - a step is given only if everybody in it lives where it lived when the way was found;
///  - at the first one that fails, and after an interruption, no further step is begun;
///  - what was done so far is told in any case.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "balancer/protocol/request.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

struct StepsTaken {
  std::size_t steps = 0;
  std::int64_t clients = 0;
  bool interrupted = false;
  std::optional<Refusal> refusal;  ///< of the step after these
};

/// Goes on until the step with which more than `at_most` clients would have moved. `say` is given
/// sentences for people as things happen.
[[nodiscard]] StepsTaken take_steps(const Invocation& invocation, Surroundings& surroundings,
                                    const std::vector<balancer::MoveTogetherRequest>& steps,
                                    std::int64_t at_most,
                                    const std::function<void(const std::string&)>& say);

/// Of an array of steps as optimal_text.h and make_room_text.h write them. May throw what
/// nlohmann::json throws.
[[nodiscard]] std::vector<balancer::MoveTogetherRequest> steps_from(
    const nlohmann::ordered_json& steps);

}  // namespace vmnuma::tools
