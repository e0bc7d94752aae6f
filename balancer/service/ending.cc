// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/ending.h"

namespace vmnuma::balancer {
namespace {

/// A restoring step that takes longer is considered hung.
constexpr std::chrono::seconds kRestoreStepPatience{3};

// Each of these must be over at this time after the shutdown began, which leaves a second to the
// next; whatever still runs at Signals::kPatience is abandoned.
constexpr std::chrono::milliseconds kActionsAtRest{1500};
constexpr std::chrono::milliseconds kMemorySet{2500};
constexpr std::chrono::milliseconds kHistoryWritten{3500};
// A task that has already run for this long is not waited for at all.
constexpr std::chrono::seconds kHangs{10};

}  // namespace

Ending::Ending(TaskBoard& board, Signals& signals, EventLog& log)
    : signals_(signals), log_(log), place_(board, "end", Signals::kPatience) {}

void Ending::restore(const Workers& workers) {
  using std::chrono::steady_clock;
  const auto until = steady_clock::now() + kRestorePatience;
  signals_.allow_until(until + Signals::kPatience);
  (void)place_.note("restoring VMs");
  const bool moved = workers.executor.finish({kRestorePatience, kRestoreStepPatience});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
  const bool limited = workers.memory.drain({left, kRestoreStepPatience});
  if (!moved || !limited) {
    log_.say(Severity::kWarning, "not all VMs could be restored, the others stay as they are");
  }
  signals_.allow_until(steady_clock::now() + Signals::kPatience);
}

void Ending::end(const Workers& workers) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  const auto began = steady_clock::now();
  const auto until = [began](milliseconds limit) {
    const auto left = std::chrono::ceil<milliseconds>(began + limit - steady_clock::now());
    return Patience{left, kHangs};
  };
  (void)place_.note("waiting for actions to end");
  if (!workers.executor.stop(until(kActionsAtRest).all)) {
    log_.say(Severity::kWarning,
             "not all actions ended in time, the next start completes or reverts them");
  }
  (void)place_.note("setting memory limits");
  if (!workers.memory.drain(until(kMemorySet))) {
    log_.say(Severity::kWarning, "not all memory limits were set");
  }
  (void)place_.note("writing the history");
  if (!workers.history.drain(until(kHistoryWritten))) {
    log_.say(Severity::kWarning, "not all of the history was written");
  }
  (void)place_.note("closing the connections");
}

}  // namespace vmnuma::balancer
