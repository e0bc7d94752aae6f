// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/forecast_worker.h"

#include <utility>
#include <vector>

#include "stats/forecast/model_file.h"
#include "stats/history/loads.h"

namespace vmnuma::balancer {
namespace {

/// Epochs that wait while the history is read, and then some.
constexpr std::size_t kMostWaiting = 60;

}  // namespace

ForecastWorker::ForecastWorker(std::filesystem::path history, OnForecasts on_forecasts)
    : history_(std::move(history)),
      on_forecasts_(std::move(on_forecasts)),
      worker_("forecast", kMostWaiting) {
  (void)worker_.post([this] {
    read_model();
    learn();
  });
}

ForecastWorker::~ForecastWorker() {
  stopping_ = true;
}

void ForecastWorker::epoch(placement::Snapshot snapshot, std::int64_t wall_unix_s) {
  (void)worker_.post([this, snapshot = std::move(snapshot), wall_unix_s] {
    if (auto forecasts = loads_.epoch(snapshot, wall_unix_s)) {
      on_forecasts_(std::move(*forecasts));
    }
  });
}

void ForecastWorker::reload() {
  (void)worker_.post([this] { read_model(); });
}

/// `vmnuma forecast show` says what is wrong with a model that cannot be used.
void ForecastWorker::read_model() {
  trained_.reset();
  if (!history_.empty()) {
    if (auto model = stats::read_model(history_.parent_path() / stats::kModelFile)) {
      trained_ = std::make_unique<placement::TrainedPredictor>(std::move(*model));
    }
  }
  std::vector<const placement::Predictor*> chain{&histogram_, &last_maximum_};
  if (trained_) {
    chain.insert(chain.begin(), trained_.get());
  }
  loads_.set_predictors(std::move(chain));
}

void ForecastWorker::learn() {
  if (history_.empty()) {
    return;
  }
  // A history that cannot be read is told about by who writes it.
  const Result<std::int64_t> until =
      stats::read_vm_loads(history_, "", [&](const stats::VmLoads& loads) {
        if (!stopping_) {
          loads_.learn(loads);
        }
      });
  if (until && !stopping_) {
    on_forecasts_(loads_.forecasts(*until - 1));
  }
}

}  // namespace vmnuma::balancer
