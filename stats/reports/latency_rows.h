// SPDX-License-Identifier: Apache-2.0
/// The rows of the table numa-latency: how long a CPU of one node waits for memory of another, as
/// measured and according to SLIT and HMAT. Pure.
///
/// Properties:
///  - there is a row for every pair of a node with CPUs and a node with memory, by the kernel's
///    numbers;
///  - unknown values are absent, never guessed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "placement/base/names.h"
#include "placement/model/topology.h"
#include "stats/reports/rows.h"

namespace vmnuma::stats {

inline constexpr std::string_view kLatencyTable = "numa-latency";

enum class LatencyState {
  kNotMeasured,  ///< not tried yet, or not possible here
  kMeasured,
  kBusy,      ///< something else ran or used the memory all the time
  kNoMemory,  ///< the node had no free memory for measuring
};

/// "measured", "not-measured", "busy", "no-memory"; never with a blank.
[[nodiscard]] constexpr auto names(LatencyState) {
  return names_in_order<LatencyState>("not-measured", "measured", "busy", "no-memory");
}

/// The time that a CPU of node `cpu` takes to read memory of node `memory`, without any cache.
struct MeasuredLatency {
  NodeId cpu;
  NodeId memory;
  LatencyState state{};
  std::int64_t read_ns = 0;  ///< if it was measured
  bool operator==(const MeasuredLatency&) const = default;
};

/// A latency reported by the firmware (ACPI's HMAT).
struct FirmwareLatency {
  NodeId cpu;
  NodeId memory;
  std::int64_t read_ns = 0;
  bool operator==(const FirmwareLatency&) const = default;
};

struct HostLatencies {
  std::vector<MeasuredLatency> measured;
  std::vector<FirmwareLatency> firmware;
  bool operator==(const HostLatencies&) const = default;
};

/// Returns the rows by node of the CPU, then node of the memory.
[[nodiscard]] std::vector<LatencyRow> latency_rows(const Topology& topology,
                                                   const HostLatencies& latencies);

}  // namespace vmnuma::stats
