// SPDX-License-Identifier: Apache-2.0
/// The port that counts single threads' reads from memory. Implemented by PerfCounters over the
/// CPUs' own counters, and by the simulated host.
#pragma once

#include <cstdint>
#include <memory>

#include "placement/base/result.h"

namespace vmnuma::stats {

/// Counts since the counter was created.
struct ThreadCount {
  std::int64_t reads = 0;           ///< from memory, in `counted_ns`
  std::int64_t counted_ns = 0;      ///< run time in which they were counted
  std::int64_t ran_ns = 0;          ///< run time in which they should have been
  std::int64_t cycles = 0;          ///< in `counted_ns`; 0: not counted
  std::int64_t stalled_cycles = 0;  ///< of these, those in which no new work could begin
  bool operator==(const ThreadCount&) const = default;
};

/// Counts as long as it exists. One thread at a time.
class ThreadCounter {
 public:
  virtual ~ThreadCounter() = default;
  /// Returns the counts; works even after the thread has ended. Errors: io.
  [[nodiscard]] virtual Result<ThreadCount> read() const = 0;
};

class ThreadCounters {
 public:
  virtual ~ThreadCounters() = default;
  /// Starts counting for this thread. Errors: vanished (there is no such thread),
  /// permission-denied, io (no more descriptors, or the event cannot be counted).
  [[nodiscard]] virtual Result<std::unique_ptr<ThreadCounter>> count(std::int64_t tid) = 0;
};

}  // namespace vmnuma::stats
