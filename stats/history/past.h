// SPDX-License-Identifier: Apache-2.0
/// The history for looking back over hours or days, also while no daemon runs.
///
/// Reads the file that History writes; never changes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// Where the memory of all clients of the host was.
struct LocalityPoint {
  WallTime time;
  Bytes local;
  Bytes remote;
  bool operator==(const LocalityPoint&) const = default;
};

/// The figures of a VM, each averaged over the rows that have it.
struct VmPast {
  std::string name;
  std::string uuid;
  VmFigures figures;
  bool operator==(const VmPast&) const = default;
};

struct Past {
  SampleSpan span{};                       ///< of the samples: as fine as the period allows
  std::vector<Kept<NodeSampleRow>> nodes;  ///< ascending time, then node
  std::vector<LocalityPoint> locality;     ///< ascending time
  std::vector<PastAction> actions;         ///< newest first, at most kMostPastActions
  std::vector<VmPast> vms = {};            ///< by name, then UUID; those with a known figure
};

inline constexpr std::int64_t kMostPastActions = 1000;

/// Up to an hour back in epochs, up to two days in minutes, further in hours. Errors: not-found,
/// permission-denied, busy, unsupported (a file of another version), corrupt, io; all name the
/// file.
[[nodiscard]] Result<Past> read_past(const std::filesystem::path& path, WallTime since,
                                     WallTime until);

}  // namespace vmnuma::stats
