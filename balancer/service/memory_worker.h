// SPDX-License-Identifier: Apache-2.0
/// Changes memory limits. What was found is on disk before anything is changed.
///
/// systemd's record of a change is removed once a unit is as it was found, or has ended, unless the
/// unit had such settings before the first change: then they contain what was found, and stay.
/// Properties: without a history nothing is changed, because it could not be restored; every change
/// is answered, whatever happens to it; once the service manager does not answer, the rest of that
/// batch fails at once, so that the daemon's shutdown does not wait for each change.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/memory_steering.h"
#include "balancer/service/remembered.h"
#include "balancer/service/unit_control.h"
#include "balancer/service/worker.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

class MemoryWorker {
 public:
  /// Receives the cgroup's `path`, and the problem, which is empty on success. Called on the
  /// worker's thread.
  using OnAnswer = std::function<void(const std::string& path, const std::string& problem)>;

  /// `history` may be null. `units` and `history` must outlive this object; `units` is used on its
  /// thread only.
  MemoryWorker(TaskBoard& board, UnitControl& units, stats::History* history, OnAnswer on_answer);

  /// Queues changes; `originals`, if set, are stored before them. Any thread.
  void submit(std::optional<MemoryOriginals> originals, const std::vector<MemoryChange>& changes);
  /// Carries out everything submitted and ends the thread; false if that takes too long. To be
  /// called once, on another thread.
  [[nodiscard]] bool drain(Patience patience) { return worker_.drain(patience); }
  /// The units with changed limits; nothing before the first change. Any thread.
  [[nodiscard]] std::optional<TouchedUnits> touched_units() const;

 private:
  void carry_out(const std::optional<MemoryOriginals>& originals,
                 const std::vector<MemoryChange>& changes);
  [[nodiscard]] Result<void> keep(const std::optional<MemoryOriginals>& originals);
  [[nodiscard]] Result<void> look_first(const std::string& unit);
  [[nodiscard]] Result<void> carry_out(const MemoryChange& change);
  [[nodiscard]] Result<void> clean_up(const std::string& unit);
  void set_touched(TouchedUnits touched);

  UnitControl& units_;
  stats::History* history_;
  OnAnswer on_answer_;
  std::optional<MemoryOriginals> unkept_;  ///< the newest, if not stored yet
  mutable std::mutex mutex_;               ///< guards writes of `touched_` by the worker's thread
  std::optional<TouchedUnits> touched_;    ///< read at the first change
  Worker worker_;
};

}  // namespace vmnuma::balancer
