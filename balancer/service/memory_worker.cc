// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/memory_worker.h"

#include <utility>

#include "balancer/service/remembered.h"

namespace vmnuma::balancer {
namespace {

constexpr std::size_t kMostWaiting = 1000;
/// Of one change. The service manager is waited for half as long (systemd_control.h).
constexpr std::chrono::seconds kAllowed{10};

}  // namespace

MemoryWorker::MemoryWorker(TaskBoard& board, UnitControl& units, stats::History* history,
                           OnAnswer on_answer)
    : units_(units),
      history_(history),
      on_answer_(std::move(on_answer)),
      worker_(board, "memory", kMostWaiting, kAllowed) {}

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

/// What could not be kept is tried again with the next change.
Result<void> MemoryWorker::keep(const std::optional<MemoryOriginals>& originals) {
  if (originals) {
    unkept_ = originals;
  }
  if (!unkept_) {
    return {};
  }
  if (history_ == nullptr) {
    return failure(ErrorCode::kUnavailable, "there is no history to keep what was found in");
  }
  auto kept = keep_memory_originals(*history_, *unkept_);
  if (!kept) {
    return failure(std::move(kept).error(), "what was found could not be kept");
  }
  unkept_.reset();
  return {};
}

void MemoryWorker::carry_out(const std::optional<MemoryOriginals>& originals,
                             const std::vector<MemoryChange>& changes) {
  const Result<void> kept = keep(originals);
  std::string problem = kept ? "" : kept.error().message;
  for (const MemoryChange& change : changes) {
    if (!problem.empty()) {
      on_answer_(change.path, problem);
      continue;
    }
    const std::string unit(placement::unit_of(change.path));
    Result<void> set;
    worker_.run("setting the limits of " + unit,
                [&] { set = units_.set_memory(unit, change.limits); });
    on_answer_(change.path, set ? "" : set.error().message);
    if (!set && set.error().code == ErrorCode::kUnavailable) {
      problem = set.error().message;
    }
  }
}

}  // namespace vmnuma::balancer
