// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/search_command.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "placement/model/suggest.h"
#include "stats/files/file.h"
#include "tools/sim/scenario/scenario_file.h"
#include "tools/sim/search/search.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/terminal/progress_bar.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kMostShown = 10;

Result<void> write_scenarios(const std::string& directory,
                             const std::vector<Weakness>& weaknesses) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) {
    return failure(ErrorCode::kIo,
                   fmt::format("cannot make '{}': {}", directory, problem.message()));
  }
  for (const Weakness& weakness : weaknesses) {
    const std::string path = fmt::format("{}/{}.toml", directory, weakness.scenario.name);
    if (auto written = files::replace_file(path, to_toml(weakness.scenario)); !written) {
      return tl::unexpected(std::move(written).error().within(path));
    }
  }
  return {};
}

}  // namespace

OrFailure<int> search_scenarios(const SimSearchRequest& request, const Effort& effort,
                                const Context& context) {
  const std::vector<std::string_view> known = opponents();
  if (std::find(known.begin(), known.end(), request.against) == known.end()) {
    return wrong_usage(fmt::format("--against: there is no policy '{}'{}", request.against,
                                   did_you_mean(request.against, known)));
  }
  SearchPlan plan;
  plan.seed = static_cast<std::uint64_t>(request.seed);
  plan.against = request.against;
  plan.effort = effort;
  plan.threads = std::max(std::thread::hardware_concurrency(), 1U);
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                            begin)
        .count();
  };
  ProgressBar bar(context, "sim search");
  const SearchResult result = search(
      plan,
      [&](std::int64_t rounds) {
        return request.rounds ? rounds < *request.rounds : seconds() < request.seconds;
      },
      [&](std::int64_t climbs) {
        const std::string note = fmt::format("{} climbs", climbs);
        if (request.rounds) {
          bar.show(climbs, *request.rounds * kClimbsPerRound, note);
        } else {
          bar.show(std::min(seconds(), request.seconds), request.seconds, note);
        }
      });
  bar.hide();
  const std::vector<Weakness> weaknesses = by_mechanism(result.weaknesses);
  if (request.out) {
    VMNUMA_RETURN_IF_ERROR(write_scenarios(*request.out, weaknesses).map_error(usage_failure));
  }
  const int printed = context.print(
      context.invocation.json
          ? to_json(weaknesses) + "\n"
          : to_text(weaknesses, kMostShown) +
                fmt::format("seed {}: {} scenarios tried in {} climbs of {} rounds, {} different "
                            "weaknesses of {}\n",
                            request.seed, result.trials, result.rounds * kClimbsPerRound,
                            result.rounds, weaknesses.size(), result.weaknesses.size()));
  const bool violates =
      std::any_of(weaknesses.begin(), weaknesses.end(),
                  [](const Weakness& weakness) { return !weakness.violation.empty(); });
  return violates ? kExitRefused : printed;
}

OrFailure<int> SimSearchRequest::run(const Context& context) const {
  return search_scenarios(*this, Effort{}, context);
}

}  // namespace vmnuma::tools
