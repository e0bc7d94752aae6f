// SPDX-License-Identifier: Apache-2.0
// `vmnuma forecast show VM`: shows a VM's expected demand, and how good its past forecasts were.
//
// Reads the history's file and the model next to it; works without a daemon, too.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/time_text.h"
#include "placement/forecast/tree_model.h"
#include "placement/model/text.h"
#include "stats/forecast/forecaster.h"
#include "stats/forecast/model_file.h"
#include "stats/text/json.h"
#include "tools/vmnuma/commands/history_file.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

/// Everything that is shown.
struct ForecastShown {
  stats::VmLoads vm;
  stats::VmForecast forecast;
  std::string model;  ///< a sentence
};

std::string sentence_about(const Result<TreeModel>& model) {
  if (!model) {
    return model.error().code == ErrorCode::kNotFound ? "no model has been trained"
                                                      : model.error().message;
  }
  return fmt::format("it knows the minutes before {}", local_time_text(model->trained_until * 60));
}

Result<ForecastShown> read_forecasts(const ForecastShowRun& asked,
                                     const std::filesystem::path& history) {
  std::optional<stats::VmLoads> found;
  VMNUMA_ASSIGN_OR_RETURN(const auto until,
                          stats::read_vm_loads(history, asked.vm, [&](stats::VmLoads loads) {
                            found = std::move(loads);
                            return true;
                          }));
  if (!found) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("the history '{}' has no VM '{}' that was seen for a whole minute",
                               history.string(), asked.vm));
  }
  const Result<TreeModel> model = stats::read_model(history.parent_path() / stats::kModelFile);
  stats::Forecaster forecaster(found->facts,
                               predictors_with(model ? std::optional(*model) : std::nullopt));
  for (const stats::MinuteLoad& load : found->minutes) {
    forecaster.learn(load);
  }
  const std::int64_t now = std::max(until - 1, found->minutes.back().minute);
  std::optional<stats::VmForecast> forecast = forecaster.forecast(now);
  if (!forecast) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("nothing is known about VM '{}' from which to forecast", asked.vm));
  }
  return ForecastShown{std::move(*found), *forecast, sentence_about(model)};
}

/// Formats thousandths as per cent with one digit.
std::string percent_text(std::int64_t permille) {
  return fmt::format("{}.{}%", permille / 10, permille % 10);
}

/// Formats millionths as per cent with four digits.
std::string loss_text(std::int64_t millionths) {
  return fmt::format("{}.{:04}%", millionths / 10'000, millionths % 10'000);
}

std::string forecast_text(const ForecastShown& shown) {
  const stats::VmForecast& forecast = shown.forecast;
  const VmFacts& vm = shown.vm.facts;
  std::string out = wrapped(
      fmt::format("VM {} with {} vCPUs, {} MiB and {} shares{}, known for {} minutes until {}.",
                  printable(vm.name), vm.vcpus, vm.memory_mib, vm.shares,
                  vm.guest_os.empty() ? "" : ", guest system " + printable(vm.guest_os),
                  shown.vm.minutes.size(),
                  local_time_text((shown.vm.minutes.back().minute + 1) * 60)),
      /*indent=*/0);
  out += wrapped(
      fmt::format("In the ten minutes from {} on it will want at most {} of its vCPUs' "
                  "time in 95 of 100 minutes, and at most {} in 5 of them. Predictor: "
                  "{}.",
                  local_time_text((forecast.minute + 1) * 60), percent_text(forecast.p95.value),
                  percent_text(forecast.p5.value), name_of(forecast.by)),
      /*indent=*/0);
  Table table({{"LAST EIGHT DAYS"},
               {"JUDGED(min)", Align::kRight},
               {"COVERED", Align::kRight},
               {"PINBALL LOSS", Align::kRight},
               {"USED", Align::kRight}});
  for (std::size_t kind = 0; kind < kPredictorKinds; ++kind) {
    const auto& [score, used] = forecast.records[kind];
    const bool judged = score.values > 0;
    table.add_row({std::string(name_of(static_cast<PredictorKind>(kind))),
                   std::to_string(score.values),
                   judged ? percent_text(score.coverage().value) : "-",
                   judged ? loss_text(score.mean_loss()) : "-", std::to_string(used)});
  }
  return out + "\n" + table.text() + "\n" +
         wrapped(fmt::format("Trained predictor: {}.", shown.model), /*indent=*/0);
}

std::string forecast_json(const ForecastShown& shown) {
  const stats::VmForecast& forecast = shown.forecast;
  Json json;
  json["vm"] = shown.vm.facts.name;
  json["vm_uuid"] = to_text(shown.vm.vm);
  json["vcpus"] = shown.vm.facts.vcpus;
  json["memory_mib"] = shown.vm.facts.memory_mib;
  json["shares"] = shown.vm.facts.shares;
  json["guest_os"] = shown.vm.facts.guest_os;
  json["minutes_known"] = shown.vm.minutes.size();
  json["last_seen"] = balancer::time_text((shown.vm.minutes.back().minute + 1) * 60);
  json["time"] = balancer::time_text((forecast.minute + 1) * 60);
  json["p5_permille"] = forecast.p5.value;
  json["p95_permille"] = forecast.p95.value;
  json["predictor"] = name_of(forecast.by);
  json["model"] = shown.model;
  json["predictors"] = Json::array();
  for (std::size_t kind = 0; kind < kPredictorKinds; ++kind) {
    const auto& [score, used] = forecast.records[kind];
    const bool judged = score.values > 0;
    Json predictor;
    predictor["name"] = name_of(static_cast<PredictorKind>(kind));
    predictor["minutes_judged"] = score.values;
    predictor["coverage_permille"] = judged ? Json(score.coverage().value) : Json();
    predictor["pinball_loss_millionths"] = judged ? Json(score.mean_loss()) : Json();
    predictor["used"] = used;
    json["predictors"].push_back(std::move(predictor));
  }
  return text::json_text(json) + "\n";
}

}  // namespace

OrFailure<int> ForecastShowRun::run(const Context& context) const {
  return read_forecasts(*this, history_file(history_path, context))
      .map([&](const ForecastShown& shown) {
        return context.print(context.invocation.json ? forecast_json(shown) : forecast_text(shown));
      });
}

}  // namespace vmnuma::tools
