// SPDX-License-Identifier: Apache-2.0
/// Forecasts the loads of all VMs, outside the service's thread.
///
/// Problem: reading and learning eight days of data on hundreds of VMs takes half a minute;
/// decisions must not wait for it. Approach: a separate thread reads the history once, then takes
/// in every epoch, and reports new forecasts every minute. The trained model is reloaded when it
/// has been replaced.
///
/// Properties:
///  - without a history, or with a damaged one, it learns from the epochs alone;
///  - epochs that find the queue full are dropped;
///  - what was learnt is never stored.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "balancer/service/worker.h"
#include "placement/model/forecast.h"
#include "placement/model/snapshot.h"
#include "stats/forecast/load_watch.h"

namespace vmnuma::balancer {

class ForecastWorker {
 public:
  /// Called on the worker's thread.
  using OnForecasts = std::function<void(LoadForecasts)>;

  /// Reads `history`, and the trained model next to it, if there is one. If the path is empty,
  /// there is no history.
  ForecastWorker(TaskBoard& board, std::filesystem::path history, OnForecasts on_forecasts);
  /// Abandons the part of the history that has not been learnt yet.
  ~ForecastWorker();
  ForecastWorker(const ForecastWorker&) = delete;
  ForecastWorker& operator=(const ForecastWorker&) = delete;

  /// Takes in a completed epoch. Any thread.
  void epoch(Snapshot snapshot, std::int64_t wall_unix_s);

 private:
  void look_for_model();
  void learn();

  std::filesystem::path history_;
  OnForecasts on_forecasts_;
  std::atomic<bool> stopping_ = false;
  // Used by the worker only.
  std::optional<std::filesystem::file_time_type> model_time_;  ///< of the most recently read file
  stats::LoadWatch loads_;
  Worker worker_;  // last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
