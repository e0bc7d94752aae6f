// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/forecast_worker.h"

#include <system_error>
#include <utility>

#include "placement/forecast/tree_model.h"
#include "stats/forecast/model_file.h"
#include "stats/history/loads.h"

namespace vmnuma::balancer {
namespace {

/// Enough for the epochs that accumulate while the history is read.
constexpr std::size_t kMostForecastsWaiting = 60;
/// Eight days of a thousand VMs take less than half of this time.
constexpr std::chrono::minutes kForecastAllowed{5};

}  // namespace

ForecastWorker::ForecastWorker(TaskBoard& board, std::filesystem::path history,
                               OnForecasts on_forecasts)
    : history_(std::move(history)),
      on_forecasts_(std::move(on_forecasts)),
      worker_(board, "forecast", kMostForecastsWaiting, kForecastAllowed) {
  loads_.set_predictors(predictors_with(std::nullopt));
  (void)worker_.post("learning from the history", [this] {
    look_for_model();
    learn();
  });
}

ForecastWorker::~ForecastWorker() {
  stopping_ = true;
}

void ForecastWorker::epoch(Snapshot snapshot, std::int64_t wall_unix_s) {
  (void)worker_.post("forecasting loads", [this, snapshot = std::move(snapshot), wall_unix_s] {
    look_for_model();
    if (auto forecasts = loads_.epoch(snapshot, wall_unix_s)) {
      on_forecasts_(std::move(*forecasts));
    }
  });
}

/// Loads the model if its file is another one: a file that replaces another has a later time. For
/// an unusable model, `vmnuma forecast show` reports what is wrong.
void ForecastWorker::look_for_model() {
  if (history_.empty()) {
    return;
  }
  const std::filesystem::path path = history_.parent_path() / stats::kModelFile;
  std::error_code none;
  const auto time = std::filesystem::last_write_time(path, none);
  const auto found = none ? std::nullopt : std::optional(time);
  if (found == model_time_) {
    return;
  }
  model_time_ = found;
  auto model = stats::read_model(path);
  loads_.set_predictors(predictors_with(model ? std::optional(std::move(*model)) : std::nullopt));
}

void ForecastWorker::learn() {
  if (history_.empty()) {
    return;
  }
  // A history that cannot be read is reported by its writer.
  const Result<std::int64_t> until =
      stats::read_vm_loads(history_, "", [&](const stats::VmLoads& loads) {
        if (!stopping_) {
          loads_.learn(loads);
        }
        return !stopping_;
      });
  if (until && !stopping_) {
    on_forecasts_(loads_.forecasts(*until - 1));
  }
}

}  // namespace vmnuma::balancer
