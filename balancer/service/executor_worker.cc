// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/executor_worker.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include <boost/asio/post.hpp>

namespace vmnuma::balancer {
namespace {

constexpr std::size_t kMostOrdersWaiting = 10000;
/// How often running transfers are reported when nothing else happens.
constexpr std::chrono::milliseconds kReportEvery{500};
/// Longer than libvirt itself waits for a busy domain, 30 s (QEMU_JOB_WAIT_TIME, qemu_domainjob.c,
/// 9.0).
constexpr std::chrono::seconds kStepAllowed{45};
/// Attempts to read the journal while something else uses its file.
constexpr int kMostRecoveryTries = 30;
constexpr Microseconds kRecoverEvery{1'000'000};
constexpr const char* kDoing = "carrying out actions";

}  // namespace

ExecutorWorker::ExecutorWorker(TaskBoard& board, migration::DomainControl& control,
                               migration::PageMover& mover, migration::Journal& journal,
                               migration::Limits limits, OnProgress on_progress, HostTime time)
    : time_(time),
      journal_(journal),
      executor_(control, mover, journal, std::move(limits)),
      on_progress_(std::move(on_progress)),
      worker_(board, "executor", kMostOrdersWaiting, kStepAllowed) {
  timer_ = std::make_unique<boost::asio::steady_timer>(worker_.context());
  recovery_timer_ = std::make_unique<boost::asio::steady_timer>(worker_.context());
}

ExecutorWorker::~ExecutorWorker() {
  worker_.end();  // before the timer, which its thread uses
}

void ExecutorWorker::recover() {
  (void)worker_.post(kDoing, [this] {
    recovery_tries_ = kMostRecoveryTries;
    try_to_recover();
  });
}

/// Reads the journal, and takes up orders that waited for that: what they open must not be
/// recovered. If the journal can never be read, that already prevents every later action.
void ExecutorWorker::try_to_recover() {
  const Result<std::vector<migration::OpenAction>> open = journal_.open_actions();
  recovery_tries_ = open ? 0 : recovery_tries_ - 1;
  if (recovery_tries_ > 0) {
    recovery_timer_->expires_after(time_.here(kRecoverEvery));
    recovery_timer_->async_wait([this](const boost::system::error_code& error) {
      if (!error) {
        worker_.run(kDoing, [this] { try_to_recover(); });
      }
    });
    return;
  }
  if (open && !open->empty()) {
    executor_.recover(*open, time_.now());
  }
  for (migration::Order& order : std::exchange(held_, {})) {
    executor_.submit(std::move(order));
  }
  cancel_now(std::exchange(held_cancels_, {}));
}

void ExecutorWorker::cancel_now(const std::vector<VmId>& vms) {
  for (const VmId& vm : vms) {
    executor_.cancel(vm);
  }
  pump();
}

void ExecutorWorker::submit(std::vector<migration::Order> orders) {
  // Refused only while stopping; the journal then has no record of the order, so nothing needs to
  // be finished.
  (void)worker_.post(kDoing, [this, orders = std::move(orders)]() mutable {
    if (recovery_tries_ > 0) {
      std::move(orders.begin(), orders.end(), std::back_inserter(held_));
      return;
    }
    for (migration::Order& order : orders) {
      executor_.submit(std::move(order));
    }
    pump();
  });
}

void ExecutorWorker::cancel(std::vector<VmId> vms) {
  (void)worker_.post(kDoing, [this, vms = std::move(vms)] {
    if (recovery_tries_ > 0) {
      held_cancels_.insert(held_cancels_.end(), vms.begin(), vms.end());
      return;
    }
    cancel_now(vms);
  });
}

void ExecutorWorker::set_memory_pressure(bool high) {
  (void)worker_.post(kDoing, [this, high] {
    executor_.set_memory_pressure(high);
    pump();
  });
}

void ExecutorWorker::pause(bool paused) {
  (void)worker_.post(kDoing, [this, paused] {
    executor_.set_paused(paused);
    pump();
  });
}

void ExecutorWorker::set_limits(migration::Limits limits) {
  (void)worker_.post(kDoing, [this, limits = std::move(limits)]() mutable {
    executor_.set_limits(std::move(limits));
    pump();
  });
}

bool ExecutorWorker::finish(Patience patience) {
  const auto idle = std::make_shared<std::promise<void>>();
  const bool posted = worker_.post(kDoing, [this, idle] {
    idle_ = idle;
    pump();
  });
  return posted && wait_for(idle->get_future(), worker_, patience);
}

bool ExecutorWorker::stop(std::chrono::milliseconds patience) {
  // Shared, because the waiting side may give up first.
  const auto settled = std::make_shared<std::promise<void>>();
  const bool posted = worker_.post(kDoing, [this, patience, settled] {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (const migration::TransferProgress& transfer : executor_.transfers()) {
      executor_.cancel(transfer.vm);
    }
    executor_.set_paused(true);
    while (!executor_.idle() && std::chrono::steady_clock::now() < deadline) {
      migration::ExecutorStep step = executor_.step(time_.now());
      report(std::move(step.events));
      if (!step.next_at || *step.next_at > time_.now()) {
        break;
      }
    }
    timer_->cancel();
    recovery_timer_->cancel();
    worker_.context().stop();
    settled->set_value();
  });
  const bool is_settled = posted && wait_for(settled->get_future(), worker_, {patience, patience});
  worker_.context().stop();
  return is_settled;
}

void ExecutorWorker::pump_at(Microseconds when) {
  const Microseconds now = time_.now();
  if (when <= now) {
    // Queued, so that orders submitted meanwhile get their turn.
    boost::asio::post(worker_.context(), [this] { worker_.run(kDoing, [this] { pump(); }); });
    return;
  }
  timer_->expires_after(time_.here(when - now));
  timer_->async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      worker_.run(kDoing, [this] { pump(); });
    }
  });
}

void ExecutorWorker::pump() {
  timer_->cancel();
  migration::ExecutorStep step = executor_.step(time_.now());
  report(std::move(step.events));
  if (step.next_at) {
    pump_at(*step.next_at);
  }
  if (idle_ && executor_.idle() && held_.empty()) {
    std::exchange(idle_, nullptr)->set_value();
  }
}

void ExecutorWorker::report(std::vector<migration::ActionEvent> events) {
  const auto now = std::chrono::steady_clock::now();
  if (events.empty() && now - last_report_ < kReportEvery) {
    return;
  }
  last_report_ = now;
  on_progress_(std::move(events), executor_.transfers());
}

}  // namespace vmnuma::balancer
