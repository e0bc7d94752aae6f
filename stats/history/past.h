// SPDX-License-Identifier: Apache-2.0
/// Reads the history of the last hours or days, even while no daemon runs.
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

/// A VM's figures, each averaged over the rows in which it is known.
struct VmPast {
  std::string name;
  std::string uuid;
  VmFigures figures;
  bool operator==(const VmPast&) const = default;
};

struct Past {
  SampleSpan span{};  ///< the samples' resolution, as fine as the period allows
  std::vector<Kept<NodeSampleRow>> nodes;  ///< ascending time, then node
  std::vector<LocalityPoint> locality;     ///< ascending time
  std::vector<PastAction> actions;         ///< newest first, at most kMostPastActions
  std::vector<VmPast> vms = {};            ///< by name, then UUID; those with a known figure
};

inline constexpr std::int64_t kMostPastActions = 1000;

/// Reads the history since that time: in epochs for up to an hour, in minutes for up to two days,
/// in hours beyond that. Errors: not-found, permission-denied, busy, unsupported (a file of another
/// version), corrupt, io; all name the file.
[[nodiscard]] Result<Past> read_past(const std::filesystem::path& path, WallTime since,
                                     WallTime until);

}  // namespace vmnuma::stats
