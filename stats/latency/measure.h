// SPDX-License-Identifier: Apache-2.0
/// What it takes a CPU of one node to read memory of another, measured.
///
/// Problem: SLIT is often what the firmware's author thought of, and HMAT is mostly absent; how far
/// nodes are from each other is only known by reading. But a busy host makes every reading long.
/// Approach: for every pair of nodes a few short rounds of reads that wait for each other. A round
/// counts if its thread ran all the time. The result is the middle one of the three quickest that
/// count, and only if these agree; otherwise the pair was too busy, and that is what is said.
///
/// Terms: *round* - reads one after the other, each of a line that is in no cache. Properties:
///  - a round that was interrupted or that waited for a CPU never counts;
///  - three rounds that differ by more than kAgreement are no measurement;
///  - a pair takes at most kMostRounds rounds, and after kMostBusyPairs busy ones the others are
///    taken for busy, too, so that a busy host is not burdened for long;
///  - only pairs of a node with CPUs and a node with memory are tried, and none that is known.
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
  std::int64_t passed_ns = 0;   ///< on the clock
  std::int64_t running_ns = 0;  ///< of it the thread was on a CPU
};

/// Reads memory. The caller's thread does it.
class LatencyProbe {
 public:
  virtual ~LatencyProbe() = default;
  /// Makes the next rounds read memory of `memory` from CPUs of `cpus`. Errors: no-space (the
  /// memory could not be had there), unsupported (not on this machine), others of the kernel.
  [[nodiscard]] virtual Result<void> prepare(const placement::Node& cpus,
                                             placement::NodeId memory) = 0;
  [[nodiscard]] virtual LatencyRound round() = 0;
};

inline constexpr int kMostRounds = 20;
inline constexpr int kMostBusyPairs = 4;
inline constexpr int kRoundsNeeded = 3;
/// In per cent of the quickest.
inline constexpr std::int64_t kAgreement = 10;

struct LatencyMeasurement {
  std::vector<MeasuredLatency> latencies;
  std::string problem;  ///< why some were not measured, of the first such; empty if all were
  bool again = false;   ///< some that were not measured may be so another time
};

/// Pairs that `known` has as measured are taken from there. Stops early, with nothing for the pairs
/// that are left, once `stop` is set.
[[nodiscard]] LatencyMeasurement measure_latencies(const placement::Topology& topology,
                                                   const std::vector<MeasuredLatency>& known,
                                                   LatencyProbe& probe,
                                                   const std::atomic<bool>& stop);

}  // namespace vmnuma::stats
