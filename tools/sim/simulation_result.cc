// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/simulation_result.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "stats/text/printable.h"

namespace vmnuma::tools {

using nlohmann::ordered_json;

namespace {

constexpr std::int64_t kPerCent = 1000;
constexpr std::int64_t kWhole = 100 * kPerCent;
constexpr std::int64_t kSmallPage = 4096;

/// Formats a share with one decimal, which is all that is meaningful.
std::string text(Percentage share) {
  const std::int64_t tenths = (share.value + 50) / 100;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

ordered_json json_of(const Course& course) {
  return {{"start", two_digits(course.start)},
          {"mean", two_digits(course.mean)},
          {"end", two_digits(course.end)}};
}

ordered_json json_of(const PredictedAction& action) {
  return {{"epoch", action.epoch},
          {"measured_epoch", action.ended},
          {"reason", name_of(action.reason)},
          {"predicted_ms", action.predicted.value / 1000},
          {"measured_ms", action.measured.value / 1000}};
}

ordered_json json_of(const VmResult& vm) {
  ordered_json homes = ordered_json::array();
  for (const NodeId home : vm.homes) {
    homes.push_back(home.value < 0 ? ordered_json() : ordered_json(home.value));
  }
  return {{"name", vm.name},
          {"homes", std::move(homes)},
          {"used_pct", two_digits(vm.used)},
          {"worked_pct", two_digits(vm.worked)},
          {"entitled_pct", two_digits(vm.entitled)},
          {"waited_pct", two_digits(vm.waited)},
          {"locality_pct", two_digits(vm.locality)},
          {"moves", vm.moves}};
}

std::string predictions_text(const std::vector<PredictedAction>& predictions) {
  const PredictionFigures figures = figures_of(predictions);
  if (figures.counted == 0) {
    return "none of more than 50 ms an epoch";
  }
  return fmt::format("{} of {} gains of more than 50 ms an epoch were within {} % of the outcome",
                     figures.near, figures.counted, kNearPct);
}

}  // namespace

double two_digits(Percentage share) {
  const std::int64_t hundredths = (share.value + 5) / 10;
  return static_cast<double>(hundredths) / 100;
}

std::optional<Percentage> percentage_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) {
    return std::nullopt;
  }
  // Bytes times 10^5 may exceed 64 bits.
  const std::int64_t scale = whole > INT64_MAX / (2 * kWhole) ? kWhole : 1;
  return Percentage{part / scale * kWhole / (whole / scale)};
}

std::string to_json(const SimulationResult& result) {
  ordered_json vms = ordered_json::array();
  for (const VmResult& vm : result.vms) {
    vms.push_back(json_of(vm));
  }
  ordered_json predictions = ordered_json::array();
  for (const PredictedAction& action : result.predictions) {
    predictions.push_back(json_of(action));
  }
  const ordered_json json = {{"scenario", result.scenario},
                             {"policy", result.policy},
                             {"seed", result.seed},
                             {"epochs", result.epochs},
                             {"moves", result.moves},
                             {"swaps", result.swaps},
                             {"locality_moves", result.locality_moves},
                             {"long_term_moves", result.long_term_moves},
                             {"pages_moved", result.moved.value / kSmallPage},
                             {"bytes_moved", result.moved.value},
                             {"bytes_below_reserve", result.below_reserve.value},
                             {"imbalance_pct", json_of(result.imbalance)},
                             {"locality_pct", json_of(result.locality)},
                             {"owed_pct_mean", two_digits(result.owed)},
                             {"lost_pct_mean", two_digits(result.lost)},
                             {"last_move_epoch", result.last_move_epoch},
                             {"predictions", std::move(predictions)},
                             {"vms", std::move(vms)},
                             {"violations", result.violations}};
  // Names may be anything that TOML allows.
  return text::json_text(json);
}

std::string to_text(const SimulationResult& result) {
  std::string lines =
      fmt::format("scenario '{}', policy {}, seed {}, {} epochs\n",
                  text::printable(result.scenario), result.policy, result.seed, result.epochs);
  lines += fmt::format("  imbalance   {} at the start, {} on average, {} at the end\n",
                       text(result.imbalance.start), text(result.imbalance.mean),
                       text(result.imbalance.end));
  lines += fmt::format("  locality    {} at the start, {} on average, {} at the end\n",
                       text(result.locality.start), text(result.locality.mean),
                       text(result.locality.end));
  lines += fmt::format("  lost time   {} of demand, of it owed CPU time {}\n", text(result.lost),
                       text(result.owed));
  lines += fmt::format(
      "  moves       {} for load, {} swaps, {} for locality, {} for fairness; {}\n", result.moves,
      result.swaps, result.locality_moves, result.long_term_moves,
      result.last_move_epoch < 0 ? "none"
                                 : fmt::format("the last in epoch {}", result.last_move_epoch));
  lines += fmt::format("  memory      {} MiB moved, {} of them below a node's reserve\n",
                       result.moved.value / kMiB.value, result.below_reserve.value / kMiB.value);
  lines += fmt::format("  predictions {}\n", predictions_text(result.predictions));
  if (result.violations.empty()) {
    lines += "  violations  none\n";
  }
  for (const std::string& violation : result.violations) {
    lines += fmt::format("  VIOLATION   {}\n", text::printable(violation));
  }
  return lines;
}

}  // namespace vmnuma::tools
