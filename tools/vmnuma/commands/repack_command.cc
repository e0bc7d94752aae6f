// SPDX-License-Identifier: Apache-2.0
// `vmnuma repack`: moves all VMs to the best homes, step by step.
//
// Problem: the planner improves a few homes at a time and may stop where a larger change would gain
// more; such a change costs copying, so an administrator must decide when. Approach: run the search
// of `plan --optimal`, then give its steps to the daemon as orders, one at a time.
//
// Properties: nothing is moved if the gain is below the requested one; also those of
// step_by_step.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/commands/optimal_command.h"
#include "tools/vmnuma/commands/step_by_step.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/text.h"

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

/// Parses the result of the search. Error: corrupt.
Result<Way> read_way(const std::string& json) {
  try {
    return text::read_json<ordered_json>(json, {json.size()}, "the plan").map(way_from);
  } catch (const ordered_json::exception& exception) {
    return failure(ErrorCode::kCorrupt,
                   fmt::format("the plan cannot be read: {}", exception.what()));
  }
}

class Repacker {
 public:
  Repacker(const RepackRun& run, const Invocation& invocation, Surroundings& surroundings)
      : invocation_(invocation), run_(run), surroundings_(surroundings) {}

  [[nodiscard]] int run() {
    const auto found = find_optimal_plan(invocation_, run_.search, /*json=*/true, surroundings_);
    if (!found) {
      return failed(found.error());
    }
    Result<Way> way = read_way(*found);
    if (!way) {
      return failed({/*by_daemon=*/false, std::move(way).error()});
    }
    way_ = std::move(*way);
    if (way_.steps.empty() || way_.gain_ms * 1000 < way_.demand_ms * run_.least_gain) {
      say(
          fmt::format("nothing is moved: moves could save {} ms per epoch of {} ms that VMs want, "
                      "which is less than {}/1000 of it",
                      way_.gain_ms, way_.demand_ms, run_.least_gain));
      return finished("");
    }
    say(fmt::format("{} ms per epoch can be saved of {} ms that VMs want, in {} steps",
                    way_.gain_ms, way_.demand_ms, way_.steps.size()));
    taken_ = take_steps(invocation_, surroundings_, way_.steps, run_.at_most,
                        [this](const std::string& sentence) { say(sentence); });
    if (taken_.refusal) {
      const int code = failed(*taken_.refusal);
      say(fmt::format("{} of {} steps are done, the others were not begun", taken_.steps,
                      way_.steps.size()));
      return finished(taken_.refusal->error.message) == kExitOk ? code : kExitRefused;
    }
    return finished("");
  }

 private:
  /// Prints a sentence for the user.
  void say(const std::string& sentence) {
    if (!invocation_.json && !sentence.empty()) {
      surroundings_.out << wrapped(sentence, /*indent=*/0) << std::flush;
    }
  }

  [[nodiscard]] int finished(const std::string& stopped_because) {
    if (invocation_.json) {
      const ordered_json json = {
          {"demand_ms", way_.demand_ms},       {"lost_before_ms", way_.lost_now_ms},
          {"gain_ms", way_.gain_ms},           {"steps", way_.steps.size()},
          {"steps_done", taken_.steps},        {"clients_moved", taken_.clients},
          {"stopped_because", stopped_because}};
      surroundings_.out << text::json_text(json) << "\n";
    }
    return print(invocation_, surroundings_, "");
  }

  [[nodiscard]] int failed(const Refusal& refusal) {
    return fail(invocation_, surroundings_, refusal);
  }

  const Invocation& invocation_;
  const RepackRun& run_;
  Surroundings& surroundings_;
  Way way_;
  StepsTaken taken_;
};

}  // namespace

int RepackRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  return Repacker(*this, invocation, surroundings).run();
}

}  // namespace vmnuma::tools
