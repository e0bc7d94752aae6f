// SPDX-License-Identifier: Apache-2.0
/// Counts how often VMs read memory, a few VMs at a time.
///
/// Problem: a counter for every vCPU thread costs thousands of descriptors, a little time at every
/// thread switch, and one of the few counters of a CPU, which guests and perf(1) want to use, too.
/// But VMs change their behavior slowly. Approach: VMs take turns. As many VMs as together have
/// kMostThreads threads are counted for kTurn, then the next ones by id; a new round begins no
/// sooner than kRound after the last one began. Of a VM with more threads than that, kMostThreads
/// evenly spaced ones are counted. A turn's result is in the sample with which it ends.
///
/// Everything the threads do is counted, guest and host, because run time covers both, too.
///
/// Properties:
///  1. No more than kMostThreads threads are counted at a time, and no VM for more than kTurn of
///     each kRound.
///  2. Every VM gets its turn, no matter which others come and go.
///  3. A VM that ended or was restarted has no result; its counters are closed by the next epoch.
///  4. If a thread cannot be counted, its VM has no result for this turn.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "placement/model/sample.h"
#include "stats/perf/thread_counters.h"

namespace vmnuma::stats {

inline constexpr std::size_t kMostThreads = 128;
inline constexpr Microseconds kTurn{10 * kMicrosecondsPerSecond};
inline constexpr Microseconds kRound{60 * kMicrosecondsPerSecond};

/// One thread at a time.
class ReadTurns {
 public:
  /// `counters` must outlive this. If null, nothing is ever counted.
  explicit ReadTurns(ThreadCounters* counters) : counters_(counters) {}

  /// Begins and ends turns, and adds the results of those that end to `sample`, which must just
  /// have been read.
  void take_turns(Sample& sample);

 private:
  struct Counted {
    VmProcess process;
    std::vector<std::unique_ptr<ThreadCounter>> threads;
  };
  void end_turn(Sample& sample);
  void begin_turn(const Sample& sample);
  [[nodiscard]] std::vector<std::unique_ptr<ThreadCounter>> count(const VmSample& vm);

  ThreadCounters* counters_;
  std::map<VmId, Counted> counted_;
  Microseconds turn_began_;
  std::optional<Microseconds> round_began_;
  std::optional<VmId> last_;  ///< the last VM of this round that had its turn; nothing: the next
                              ///< turn is the round's first
};

}  // namespace vmnuma::stats
