// SPDX-License-Identifier: Apache-2.0
// `vmnuma repack`: moves all VMs to the best homes, step by step.
//
// Problem: the planner improves a few homes at a time and may stop where a larger change would gain
// more; such a change costs copying, so an administrator must decide when. Approach: run the search
// of `plan --optimal`, then give its steps to the daemon as orders, one at a time.
//
// Properties: nothing is moved if the gain is below the requested one; also those of
// step_by_step.h.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/commands/optimal_command.h"
#include "tools/vmnuma/commands/step_by_step.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

namespace {

using balancer::MoveTogetherRequest;
using nlohmann::ordered_json;

/// The result of the search, from its JSON (optimal_text.h).
struct Way {
  std::int64_t demand_ms = 0;  ///< per epoch
  std::int64_t lost_now_ms = 0;
  std::int64_t gain_ms = 0;  ///< how much less the best homes cost than the current ones
  std::vector<MoveTogetherRequest> steps;
};

Way way_from(const ordered_json& plan) {
  Way way;
  way.demand_ms = plan.at("demand_ms").get<std::int64_t>();
  way.lost_now_ms = plan.at("now").at("lost_ms").get<std::int64_t>();
  way.gain_ms = plan.at("now").at("cost_ms").get<std::int64_t>() -
                plan.at("optimum").at("cost_ms").get<std::int64_t>();
  way.steps = steps_from(plan.at("steps"));
  return way;
}

/// Parses the result of the search. Failure: answer_failure().
OrFailure<Way> read_way(const std::string& json) {
  try {
    return text::read_json<ordered_json>(json, {json.size()}, "the plan")
        .map(way_from)
        .map_error(answer_failure);
  } catch (const ordered_json::exception& exception) {
    return tl::unexpected(answer_failure(
        {ErrorCode::kCorrupt, 0, fmt::format("the plan cannot be read: {}", exception.what())}));
  }
}

int finish(const Context& context, const Way& way, const StepsTaken& taken) {
  return context.print({{"demand_ms", way.demand_ms},
                        {"lost_before_ms", way.lost_now_ms},
                        {"gain_ms", way.gain_ms},
                        {"steps", way.steps.size()},
                        {"steps_done", taken.steps},
                        {"clients_moved", taken.clients},
                        {"stopped_because", taken.failure ? taken.failure->error.message : ""}},
                       "");
}

}  // namespace

OrFailure<int> RepackRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto found, find_optimal_plan(context, search, /*json=*/true));
  VMNUMA_ASSIGN_OR_RETURN(const auto way, read_way(found));
  if (way.steps.empty() || way.gain_ms * 1000 < way.demand_ms * least_gain) {
    context.say(
        fmt::format("nothing is moved: moves could save {} ms per epoch of {} ms that VMs want, "
                    "which is less than {}/1000 of it",
                    way.gain_ms, way.demand_ms, least_gain));
    return finish(context, way, {});
  }
  context.say(fmt::format("{} ms per epoch can be saved of {} ms that VMs want, in {} steps",
                          way.gain_ms, way.demand_ms, way.steps.size()));
  const StepsTaken taken = take_steps(context, way.steps, at_most);
  if (taken.failure) {
    context.complain(taken.failure->error);
    context.say(fmt::format("{} of {} steps are done, the others were not begun", taken.steps,
                            way.steps.size()));
  }
  const int printed = finish(context, way, taken);
  return printed == kExitOk && taken.failure ? taken.failure->exit_code : printed;
}

}  // namespace vmnuma::tools
