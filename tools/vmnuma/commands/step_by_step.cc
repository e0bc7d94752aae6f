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

class StepTaker {
 public:
  StepTaker(const Invocation& invocation, Surroundings& surroundings,
            const std::function<void(const std::string&)>& say)
      : invocation_(invocation), surroundings_(surroundings), say_(say) {}

  /// Carries out one step; records what stopped it, if anything.
  void take(const MoveTogetherRequest& step) {
    const auto answer = ask(invocation_.socket_path, step, surroundings_.time_limit);
    if (!answer) {
      taken_.refusal = answer.error();
      return;
    }
    const auto begun = balancer::decode_view<balancer::DoneView>(*answer);
    if (!begun || !begun->action) {
      taken_.refusal = Refusal{
          /*by_daemon=*/false,
          {ErrorCode::kCorrupt, 0, "the daemon's answer does not name the action to wait for"}};
      return;
    }
    say_(fmt::format("step {}: {}", taken_.steps + 1, begun->message));
    const auto row = follow_action(invocation_, surroundings_, step.moves.front().vm,
                                   *begun->action, FollowUntil::kEnded, [] {});
    if (!row) {
      taken_.refusal = row.error();
      return;
    }
    taken_.interrupted = !row->has_value();
    if (!taken_.interrupted) {
      ++taken_.steps;
      taken_.clients += static_cast<std::int64_t>(step.moves.size());
      say_((*row)->detail);
    }
  }

  [[nodiscard]] const StepsTaken& taken() const { return taken_; }

 private:
  const Invocation& invocation_;
  Surroundings& surroundings_;
  const std::function<void(const std::string&)>& say_;
  StepsTaken taken_;
};

}  // namespace

StepsTaken take_steps(const Invocation& invocation, Surroundings& surroundings,
                      const std::vector<MoveTogetherRequest>& steps, std::int64_t at_most,
                      const std::function<void(const std::string&)>& say) {
  StepTaker taker(invocation, surroundings, say);
  const StepsTaken& taken = taker.taken();
  for (const MoveTogetherRequest& step : steps) {
    if (taken.clients + static_cast<std::int64_t>(step.moves.size()) > at_most) {
      say(fmt::format("stopping here: {} clients have moved, and at most {} may", taken.clients,
                      at_most));
      break;
    }
    taker.take(step);
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
