// SPDX-License-Identifier: Apache-2.0
/// Measures how long a CPU of one node takes to read memory of another.
///
/// Problem: SLIT is often made up by the firmware's author, and HMAT is mostly absent; the distance
/// between nodes can only be found by reading. But a busy host makes every reading long. Approach:
/// for every pair of nodes, a few short rounds of dependent reads. A round counts if its thread ran
/// all the time. The result is the median of the three quickest that count, and only if these
/// agree; otherwise the pair is reported as too busy.
///
/// Terms: *round* - dependent reads, each of a line that is in no cache. Properties:
///  - a round that was interrupted or had to wait for a CPU never counts;
///  - three rounds that differ by more than kAgreement are no measurement;
///  - a pair takes at most kMostRounds rounds, and after kMostBusyPairs busy pairs the others are
///    assumed busy, too, so that a busy host is not burdened for long;
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

/// One round.
struct LatencyRound {
  std::int64_t reads = 0;
  std::int64_t passed_ns = 0;   ///< wall-clock time
  std::int64_t running_ns = 0;  ///< of which the thread was on a CPU
};

/// Reads memory, in the caller's thread.
class LatencyProbe {
 public:
  virtual ~LatencyProbe() = default;
  /// Makes the next rounds read memory on `memory` from CPUs of `cpus`. Errors: no-space (the node
  /// has no memory to spare), unsupported (not on this machine), others from the kernel.
  [[nodiscard]] virtual Result<void> prepare(const Node& cpus, NodeId memory) = 0;
  [[nodiscard]] virtual LatencyRound round() = 0;
};

inline constexpr int kMostRounds = 20;
inline constexpr int kMostBusyPairs = 4;
inline constexpr int kRoundsNeeded = 3;
/// In per cent of the quickest.
inline constexpr std::int64_t kAgreement = 10;

struct LatencyMeasurement {
  std::vector<MeasuredLatency> latencies;
  std::string problem;  ///< why the first unmeasured one was not measured; empty if all were
  bool again = false;   ///< some unmeasured ones may succeed another time
};

/// Pairs measured in `known` are taken from there. Stops early, leaving out the remaining pairs,
/// once `stop` is set.
[[nodiscard]] LatencyMeasurement measure_latencies(const Topology& topology,
                                                   const std::vector<MeasuredLatency>& known,
                                                   LatencyProbe& probe,
                                                   const std::atomic<bool>& stop);

}  // namespace vmnuma::stats
