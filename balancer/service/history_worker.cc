// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_worker.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace vmnuma::balancer {
namespace {

constexpr std::size_t kMostHistoryTasks = 2000;
constexpr std::chrono::seconds kHistoryAllowed{30};

}  // namespace

HistoryWorker::HistoryWorker(TaskBoard& board, stats::History* history, EventLog& log,
                             OnWritten on_written)
    : history_(history),
      log_(log),
      on_written_(std::move(on_written)),
      worker_(board, "history", kMostHistoryTasks, kHistoryAllowed) {}

void HistoryWorker::write(std::function<Result<void>(stats::History&)> task) {
  if (history_ == nullptr) {
    return;
  }
  const bool posted = worker_.post("writing", [this, task = std::move(task)] {
    const Result<void> written = task(*history_);
    on_written_(written ? std::string() : written.error().message);
  });
  if (!posted && !std::exchange(left_something_out_, true)) {
    log_.say(Severity::kWarning,
             "writing the history takes too long, dropping what it cannot keep up with");
  }
}

bool HistoryWorker::read(std::function<void(stats::History&)> task) {
  return worker_.post("looking back", [this, task = std::move(task)] { task(*history_); });
}

bool HistoryWorker::post(std::string doing, std::function<void()> task) {
  return worker_.post(std::move(doing), std::move(task));
}

}  // namespace vmnuma::balancer
