// SPDX-License-Identifier: Apache-2.0
/// Reproduces the plans of a recording.
///
/// Approach: the controller of the header is given every event; after each sample its plan must be
/// byte for byte the recorded one. What another policy would have planned is determined by a copy
/// of the controller that gets other options just before the sample: in every epoch it has the same
/// readings and the actual homes, so each epoch is judged by itself. No recording contains the
/// consequences of another plan, that is, what demand and memory would then have been. Terms:
/// *proposal* - an action of the other policy that it had not planned in the previous epoch.
/// Properties: an intact recording replays without a difference; nothing after a damaged or missing
/// line is judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::balancer {

struct ReplayDifference {
  std::size_t line = 0;  ///< of the file, from 1
  std::int64_t epoch = 0;
  std::string recorded;  ///< the first place where the plans differ, with its surroundings
  std::string replayed;
};

/// What another policy would have done, epoch by epoch.
struct OtherPolicy {
  std::int64_t epochs_that_differ = 0;
  std::int64_t recorded_moves = 0;  ///< actions except placements and pulls
  std::int64_t other_moves = 0;     ///< proposals of the same kinds
  std::int64_t recorded_pulls = 0;
  std::int64_t other_pulls = 0;
  std::vector<std::string> proposals;  ///< "epoch 12: load-move ...", the first few
};

struct ReplayReport {
  std::string version;  ///< of the recording program
  bool anonymized = false;
  std::int64_t epochs = 0;  ///< plans compared
  std::int64_t differing = 0;
  std::optional<ReplayDifference> first_difference;
  std::optional<OtherPolicy> other;
  std::optional<Error> damage;  ///< with the line's number; everything before it was replayed
};

/// Options by name and value.
using OtherOptions = std::vector<std::pair<std::string, std::int64_t>>;

/// Replays a recording. `next_line` returns the lines of the file, then nothing. `other` may be
/// empty. Errors: invalid-argument (an option that does not exist, or a value out of range), and
/// those of the first line, because without a header there is nothing to replay.
[[nodiscard]] Result<ReplayReport> replay(
    const std::function<std::optional<std::string>()>& next_line, const OtherOptions& other);

}  // namespace vmnuma::balancer
