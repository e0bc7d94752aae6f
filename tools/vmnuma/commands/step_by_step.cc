// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/step_by_step.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/response.h"
#include "tools/vmnuma/commands/follow_action.h"

namespace vmnuma::tools {

namespace {

using balancer::MoveTogetherRequest;
using nlohmann::ordered_json;

/// Carries out one step; records in `taken` what stopped it, if anything.
void take_step(const MoveTogetherRequest& step, const Invocation& invocation,
               Surroundings& surroundings, const std::function<void(const std::string&)>& say,
               StepsTaken& taken) {
  const auto answer = ask(invocation.socket_path, step, surroundings.time_limit);
  if (!answer) {
    taken.refusal = answer.error();
    return;
  }
  const auto begun = balancer::decode_view<balancer::DoneView>(*answer);
  if (!begun || !begun->action) {
    taken.refusal = Refusal{
        /*by_daemon=*/false,
        {ErrorCode::kCorrupt, 0, "the daemon's answer does not name the action to wait for"}};
    return;
  }
  say(fmt::format("step {}: {}", taken.steps + 1, begun->message));
  const auto row = follow_action(invocation, surroundings, step.moves.front().vm, *begun->action,
                                 FollowUntil::kEnded, [] {});
  if (!row) {
    taken.refusal = row.error();
    return;
  }
  taken.interrupted = !row->has_value();
  if (!taken.interrupted) {
    ++taken.steps;
    taken.clients += static_cast<std::int64_t>(step.moves.size());
    say((*row)->detail);
  }
}

}  // namespace

StepsTaken take_steps(const Invocation& invocation, Surroundings& surroundings,
                      const std::vector<MoveTogetherRequest>& steps, std::int64_t at_most,
                      const std::function<void(const std::string&)>& say) {
  StepsTaken taken;
  for (const MoveTogetherRequest& step : steps) {
    if (taken.clients + static_cast<std::int64_t>(step.moves.size()) > at_most) {
      say(fmt::format("stopping here: {} clients have moved, and at most {} may", taken.clients,
                      at_most));
      break;
    }
    take_step(step, invocation, surroundings, say, taken);
    if (taken.refusal || taken.interrupted) {
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
