// SPDX-License-Identifier: Apache-2.0
/// Measures how long a CPU of one node takes to read memory of another.
///
/// Problem: SLIT is often made up by the firmware's author, and HMAT is mostly absent; the distance
/// between nodes can only be found by reading. But on a busy host every read takes longer.
/// Approach: for every pair of nodes, run a few short rounds of dependent reads. A round counts if
/// its thread ran all the time. The result is the median of the three fastest rounds that count,
/// provided that these agree; otherwise the pair is reported as too busy.
///
/// Terms: *round* - a series of dependent reads, each of a line that is in no cache.
///
/// Properties:
///  - a round that was interrupted or had to wait for a CPU never counts;
///  - three rounds that differ by more than kAgreement do not count as a measurement;
///  - a pair takes at most kMostRounds rounds, and after kMostBusyPairs busy pairs the others are
///    assumed busy, too, so that a busy host is not loaded for long;
///  - only pairs of a node with CPUs and a node with memory are tried, and only unknown ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/topology.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {

/// The result of one round.
struct LatencyRound {
  std::int64_t reads = 0;
  std::int64_t passed_ns = 0;   ///< wall-clock time
  std::int64_t running_ns = 0;  ///< of which the thread was on a CPU
};

/// Reads memory in the caller's thread.
class LatencyProbe {
 public:
  virtual ~LatencyProbe() = default;
  /// Makes the next rounds read memory on `memory` from CPUs of `cpus`. Errors: no-space (the node
  /// has no free memory), unsupported (not possible on this machine), and those of the kernel.
  [[nodiscard]] virtual Result<void> prepare(const Node& cpus, NodeId memory) = 0;
  [[nodiscard]] virtual LatencyRound round() = 0;
};

inline constexpr int kMostRounds = 20;
inline constexpr int kMostBusyPairs = 4;
inline constexpr int kRoundsNeeded = 3;
/// In per cent of the fastest round.
inline constexpr std::int64_t kAgreement = 10;

struct LatencyMeasurement {
  std::vector<MeasuredLatency> latencies;
  std::string problem;  ///< why the first unmeasured pair was not measured; empty if all were
  bool again = false;   ///< some unmeasured pairs may succeed another time
};

/// Measures all pairs of nodes, except those that were already measured in `known`. Stops early
/// once `stop` is set; the remaining pairs are then left out.
[[nodiscard]] LatencyMeasurement measure_latencies(const Topology& topology,
                                                   const std::vector<MeasuredLatency>& known,
                                                   LatencyProbe& probe,
                                                   const std::atomic<bool>& stop);

}  // namespace vmnuma::stats
