// SPDX-License-Identifier: Apache-2.0
/// Keeps forecasts for all VMs up to date as loads are measured.
///
/// Problem: decisions are made every two seconds and depend on what the next ten minutes will
/// bring; predictors learn from whole minutes over weeks. Approach: each VM's minutes are learnt
/// from the history once, then from the epochs as they end; at the end of each minute all forecasts
/// are recomputed.
///
/// Terms: *minute* - minutes since 1970 (UTC).
///
/// Properties:
///  - equal epochs give equal forecasts;
///  - a minute is ignored if less than half of it was measured;
///  - a VM that was not seen for eight days is forgotten; one without any learnt minute is
///    forgotten at the end of the minute;
///  - what was learnt while the clock was ahead by more than an hour is forgotten once the clock is
///    right.
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
  /// Sets the chain of predictors, the most trusted first.
  void set_predictors(std::vector<Predictor> predictors);

  /// Learns a VM's last eight days from the history. Minutes no later than the last known one are
  /// ignored.
  void learn(const VmLoads& loads);

  /// Takes in an epoch that has ended. Returns all VMs' forecasts if a minute ended with it.
  [[nodiscard]] std::optional<LoadForecasts> epoch(const Snapshot& snapshot,
                                                   std::int64_t wall_unix_s);

  /// Returns all forecasts as of the end of that minute. VMs about which nothing is known are left
  /// out.
  [[nodiscard]] LoadForecasts forecasts(std::int64_t minute) const;

 private:
  struct Sums {
    CpuTime demand;
    CpuTime full;  ///< all of its vCPUs' time
  };
  struct Watched {
    VmFacts facts;
    KnownLoad load;
    Sums minute;
  };

  std::vector<Predictor> predictors_;
  std::map<VmId, Watched> vms_;
  std::optional<std::int64_t> minute_;  ///< the one in which the last epoch ended
  CpuTime measured_;                    ///< of one CPU, in this minute
};

}  // namespace vmnuma::stats
