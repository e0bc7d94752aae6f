// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/step_by_step.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/vmnuma/commands/follow_action.h"

namespace vmnuma::tools {

namespace {

using balancer::MoveTogetherRequest;
using nlohmann::ordered_json;

/// Carries out one step, and counts it in `taken`. Returns false if it was interrupted.
OrFailure<bool> take_step(const MoveTogetherRequest& step, const Context& context,
                          StepsTaken& taken) {
  VMNUMA_ASSIGN_OR_RETURN(const auto begun, context.ask(step));
  VMNUMA_ASSIGN_OR_RETURN(const auto action, action_of(begun));
  context.say(fmt::format("step {}: {}", taken.steps + 1, begun.message));
  VMNUMA_ASSIGN_OR_RETURN(const auto row, follow_action(context, step.moves.front().vm, action,
                                                        FollowUntil::kEnded, [] {}));
  if (!row) {
    return false;
  }
  ++taken.steps;
  taken.clients += static_cast<std::int64_t>(step.moves.size());
  context.say(row->detail);
  return true;
}

}  // namespace

StepsTaken take_steps(const Context& context, const std::vector<MoveTogetherRequest>& steps,
                      std::int64_t at_most) {
  StepsTaken taken;
  for (const MoveTogetherRequest& step : steps) {
    if (taken.clients + static_cast<std::int64_t>(step.moves.size()) > at_most) {
      context.say(fmt::format("stopping here: {} clients have moved, and at most {} may",
                              taken.clients, at_most));
      break;
    }
    const OrFailure<bool> done = take_step(step, context, taken);
    if (!done) {
      taken.failure = done.error();
      break;
    }
    taken.interrupted = !*done;
    if (taken.interrupted) {
      break;
    }
  }
  return taken;
}

std::vector<MoveTogetherRequest> steps_from(const ordered_json& steps) {
  std::vector<MoveTogetherRequest> requests;
  for (const ordered_json& step : steps) {
    MoveTogetherRequest& request = requests.emplace_back();
    for (const ordered_json& move : step.at("relocations")) {
      request.moves.push_back(
          {move.at("vm").get<std::string>(), move.at("client").get<std::int32_t>(),
           NodeId{move.at("from").get<std::int32_t>()}, NodeId{move.at("to").get<std::int32_t>()}});
    }
  }
  return requests;
}

}  // namespace vmnuma::tools
