// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/measure.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace vmnuma::stats {
namespace {

/// An undisturbed thread is on its CPU all the time except for an occasional timer interrupt.
constexpr std::int64_t kLeastRunningPct = 98;

bool counts(const LatencyRound& round) {
  return round.reads > 0 && round.passed_ns > 0 &&
         round.running_ns * 100 >= round.passed_ns * kLeastRunningPct;
}

/// Returns the result in picoseconds, so that short reads keep their precision; nothing if the
/// rounds do not agree.
std::optional<std::int64_t> agreed(std::vector<std::int64_t> reads_ps) {
  if (reads_ps.size() < kRoundsNeeded) {
    return std::nullopt;
  }
  std::sort(reads_ps.begin(), reads_ps.end());
  const std::int64_t quickest = reads_ps.front();
  const std::int64_t third = reads_ps[kRoundsNeeded - 1];
  if ((third - quickest) * 100 > quickest * kAgreement) {
    return std::nullopt;
  }
  return reads_ps[kRoundsNeeded / 2];
}

/// Measures one pair; nothing if it was too busy.
std::optional<std::int64_t> read_time_ns(LatencyProbe& probe, const std::atomic<bool>& stop) {
  std::vector<std::int64_t> reads_ps;
  for (int round = 0; round < kMostRounds && !stop; ++round) {
    const LatencyRound done = probe.round();
    if (counts(done)) {
      reads_ps.push_back(done.passed_ns * 1000 / done.reads);
    }
    if (const auto read_ps = agreed(reads_ps)) {
      return std::max<std::int64_t>((*read_ps + 500) / 1000, 1);
    }
  }
  return std::nullopt;
}

}  // namespace

LatencyMeasurement measure_latencies(const Topology& topology,
                                     const std::vector<MeasuredLatency>& known, LatencyProbe& probe,
                                     const std::atomic<bool>& stop) {
  LatencyMeasurement measurement;
  int busy_pairs = 0;
  const auto add = [&](MeasuredLatency latency, const std::string& problem) {
    if (latency.state != LatencyState::kMeasured && measurement.problem.empty()) {
      measurement.problem = fmt::format("from node {} to node {}: {}", latency.cpu.value,
                                        latency.memory.value, problem);
    }
    measurement.again = measurement.again || latency.state == LatencyState::kBusy ||
                        latency.state == LatencyState::kNoMemory;
    measurement.latencies.push_back(latency);
  };
  for (const Node& cpus : topology.nodes) {
    for (const Node& memory : topology.nodes) {
      if (cpus.cpus.empty() || memory.memory == Bytes{}) {
        continue;
      }
      if (stop) {
        measurement.problem = "it was stopped";
        measurement.again = true;
        return measurement;
      }
      MeasuredLatency latency{cpus.id, memory.id, LatencyState::kMeasured, 0};
      const auto earlier =
          std::find_if(known.begin(), known.end(), [&](const MeasuredLatency& one) {
            return one.cpu == cpus.id && one.memory == memory.id &&
                   one.state == LatencyState::kMeasured;
          });
      if (earlier != known.end()) {
        add(*earlier, "");
      } else if (busy_pairs == kMostBusyPairs) {
        latency.state = LatencyState::kBusy;
        add(latency, "");  // only the first one gets the reason
      } else if (const Result<void> prepared = probe.prepare(cpus, memory.id); !prepared) {
        latency.state = prepared.error().code == ErrorCode::kNoSpace ? LatencyState::kNoMemory
                                                                     : LatencyState::kNotMeasured;
        add(latency, prepared.error().message);
      } else if (const auto read_ns = read_time_ns(probe, stop)) {
        latency.read_ns = *read_ns;
        add(latency, "");
      } else {
        ++busy_pairs;
        latency.state = LatencyState::kBusy;
        add(latency, "the host was too busy");
      }
    }
  }
  return measurement;
}

}  // namespace vmnuma::stats
