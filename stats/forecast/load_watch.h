// SPDX-License-Identifier: Apache-2.0
/// Forecasts for all VMs, kept up to date from what is measured.
///
/// Problem: decisions are made every two seconds and depend on what the next ten minutes will
/// bring; predictors learn from whole minutes over weeks. Approach: each VM's minutes are learnt
/// from the history once, then from the epochs as they end; at the end of each minute all forecasts
/// are recomputed.
///
/// Terms: *minute* - since 1970 (UTC).
///
/// Properties:
///  - equal epochs give equal forecasts;
///  - a minute is ignored if less than half of it was measured;
///  - a VM not seen for eight days is forgotten, one of which no minute was learnt at the next one;
///  - what was learnt while the clock was ahead by more than an hour is forgotten once it is right.
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
  /// The chain in the order of trust; all predictors must outlive their use.
  void set_predictors(std::vector<const Predictor*> predictors);

  /// What the history knows of a VM from the last eight days. Minutes no later than what is known
  /// change nothing.
  void learn(const VmLoads& loads);

  /// Takes in an epoch that has ended. Returns all VMs' forecasts if a minute ended with it.
  [[nodiscard]] std::optional<LoadForecasts> epoch(const Snapshot& snapshot,
                                                   std::int64_t wall_unix_s);

  /// As of the end of that minute. VMs about which nothing is known are left out.
  [[nodiscard]] LoadForecasts forecasts(std::int64_t minute) const;

 private:
  struct Sums {
    CpuTime demand;
    CpuTime full;  ///< of its vCPUs
  };
  struct Watched {
    VmFacts facts;
    KnownLoad load;
    Sums minute;
  };

  std::vector<const Predictor*> predictors_;
  std::map<VmId, Watched> vms_;
  std::optional<std::int64_t> minute_;  ///< the one containing the epochs
  CpuTime measured_;                    ///< of one CPU, in this minute
};

}  // namespace vmnuma::stats
