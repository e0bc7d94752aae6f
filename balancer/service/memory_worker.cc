// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/memory_worker.h"

#include <utility>
namespace vmnuma::balancer {
namespace {

constexpr std::size_t kMostReadingsWaiting = 1000;
/// The limit for each change, which takes at most two calls to the service manager, each with a
/// timeout of a third of this (systemd_control.h).
constexpr std::chrono::seconds kMemoryReadingAllowed{15};

}  // namespace

MemoryWorker::MemoryWorker(TaskBoard& board, UnitControl& units, stats::History* history,
                           OnAnswer on_answer)
    : units_(units),
      history_(history),
      on_answer_(std::move(on_answer)),
      worker_(board, "memory", kMostReadingsWaiting, kMemoryReadingAllowed) {}

void MemoryWorker::submit(std::optional<MemoryOriginals> originals,
                          const std::vector<MemoryChange>& changes) {
  const bool posted = worker_.post(
      "keeping what was found",
      [this, originals = std::move(originals), changes] { carry_out(originals, changes); });
  if (!posted) {
    for (const MemoryChange& change : changes) {
      on_answer_(change.path, "too many changes are waiting");
    }
  }
}

/// Stores what was found. If that fails it is retried with the next change.
Result<void> MemoryWorker::keep(const std::optional<MemoryOriginals>& originals) {
  if (originals) {
    unkept_ = originals;
  }
  if (!unkept_) {
    return {};
  }
  if (history_ == nullptr) {
    return failure(ErrorCode::kUnavailable, "there is no history to save the original limits in");
  }
  auto kept = keep_in(*history_, *unkept_);
  if (!kept) {
    return failure(std::move(kept).error(), "the original limits could not be saved");
  }
  unkept_.reset();
  return {};
}

std::optional<TouchedUnits> MemoryWorker::touched_units() const {
  const std::lock_guard lock(mutex_);
  return touched_;
}

void MemoryWorker::set_touched(TouchedUnits touched) {
  const std::lock_guard lock(mutex_);
  touched_ = std::move(touched);
}

/// Notes whether the unit has settings of another program before it gets the first of ours.
Result<void> MemoryWorker::look_first(const std::string& unit) {
  if (touched_->contains(unit)) {
    return {};
  }
  if (history_ == nullptr) {
    return failure(ErrorCode::kUnavailable, "there is no history to save its original settings in");
  }
  // In case of doubt, they are another program's.
  TouchedUnits touched = *touched_;
  touched[unit] = units_.has_memory_settings(unit).value_or(true);
  return keep_in(*history_, touched).map([&] { set_touched(std::move(touched)); });
}

/// Removes our settings. Called after the unit has been restored, or has ended.
Result<void> MemoryWorker::clean_up(const std::string& unit) {
  const auto touched = touched_->find(unit);
  if (touched == touched_->end()) {
    return {};
  }
  if (!touched->second) {
    if (auto removed = units_.remove_memory_settings(unit); !removed) {
      return failure(std::move(removed).error(),
                     "its settings in systemd's folder for run time could not be removed");
    }
  }
  TouchedUnits others = *touched_;
  others.erase(unit);
  set_touched(std::move(others));
  return keep_in(*history_, *touched_);
}

Result<void> MemoryWorker::carry_out(const MemoryChange& change) {
  const std::string unit(unit_of(change.path));
  switch (change.kind) {
    case MemoryChange::Kind::kSet:
      return look_first(unit).and_then([&] { return units_.set_memory(unit, change.limits); });
    case MemoryChange::Kind::kRestore:
      return units_.set_memory(unit, change.limits).and_then([&] { return clean_up(unit); });
    case MemoryChange::Kind::kForget:
      return clean_up(unit);
  }
  return {};
}

void MemoryWorker::carry_out(const std::optional<MemoryOriginals>& originals,
                             const std::vector<MemoryChange>& changes) {
  const Result<void> kept = keep(originals);
  std::string problem = kept ? "" : kept.error().message;
  if (kept && !touched_) {
    Result<TouchedUnits> touched =
        history_ == nullptr ? Result<TouchedUnits>() : remember_touched_units(*history_);
    if (touched) {
      set_touched(std::move(*touched));
    } else {
      problem = std::move(touched).error().message;
    }
  }
  for (const MemoryChange& change : changes) {
    if (!problem.empty()) {
      on_answer_(change.path, problem);
      continue;
    }
    Result<void> done;
    worker_.run("setting the limits of " + std::string(unit_of(change.path)),
                [&] { done = carry_out(change); });
    on_answer_(change.path, done ? "" : done.error().message);
    if (!done && done.error().code == ErrorCode::kUnavailable) {
      problem = done.error().message;
    }
  }
}

}  // namespace vmnuma::balancer
