// SPDX-License-Identifier: Apache-2.0
/// Forecasts for all VMs, kept up to date from what is measured.
///
/// Problem: decisions are taken every two seconds and want to know what the next ten minutes will
/// bring; predictors learn from whole minutes of weeks. Approach: each VM's minutes are learnt from
/// its history once, and then from the epochs as they end; when a minute is over, everybody's
/// forecast is made anew.
///
/// Terms: *minute* - since 1970 (UTC).
///
/// Properties:
///  - equal epochs give equal forecasts;
///  - a minute of which less than half was measured teaches nothing;
///  - a VM that was not seen for eight days is forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "placement/forecast/known_load.h"
#include "placement/forecast/predictors.h"
#include "placement/model/forecast.h"
#include "placement/model/snapshot.h"
#include "stats/history/loads.h"

namespace vmnuma::stats {

class LoadWatch {
 public:
  /// The chain, the first to be believed first; all of them outlive their use.
  void set_predictors(std::vector<const placement::Predictor*> predictors);

  /// What the history knows of a VM, as far as it is eight days old or less. Minutes that are not
  /// later than what is known change nothing.
  void learn(const VmLoads& loads);

  /// An epoch that has ended. Answers everybody's forecasts if a minute ended with it.
  [[nodiscard]] std::optional<placement::LoadForecasts> epoch(const placement::Snapshot& snapshot,
                                                              std::int64_t wall_unix_s);

  /// As seen at the end of that minute. VMs of which nothing is known are left out.
  [[nodiscard]] placement::LoadForecasts forecasts(std::int64_t minute) const;

 private:
  struct Sums {
    placement::CpuTime demand;
    placement::CpuTime full;  ///< of its vCPUs
  };
  struct Watched {
    placement::VmFacts facts;
    placement::KnownLoad load;
    Sums minute;
  };

  std::vector<const placement::Predictor*> predictors_;
  std::map<placement::VmId, Watched> vms_;
  std::optional<std::int64_t> minute_;  ///< the one that the epochs are in
  placement::CpuTime measured_;         ///< of one CPU, in this minute
};

}  // namespace vmnuma::stats
