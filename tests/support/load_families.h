// SPDX-License-Identifier: Apache-2.0
/// Generates loads of VMs for comparing predictors.
///
/// Problem: predictors must be compared on loads whose nature is known, the same ones every time.
/// Approach: families of loads, each a few VMs that differ in level, phase and noise, by minute
/// over whole weeks. Integers and one seed per VM (tools/sim/scenario/random.h), so that all
/// machines get the same loads.
///
///   constant   one level with noise
///   diurnal    a hump by day, another height every day
///   weekly     the same from Monday to Friday, little at weekends
///   bursty     a low level; bursts of random height come at random, some minutes each
///   trend      rises (or falls) over twelve days and begins again
///   batch      idle, but for a job of fixed length every hour, every six hours or every night, a
///              minute or two early or late
///   on-off     works or rests, for one to three hours each at random
///
/// Noise is the sum of four dice: bell-shaped and bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/names.h"
#include "placement/forecast/predictors.h"
#include "placement/model/amounts.h"

namespace vmnuma::tests {

enum class LoadFamily { kConstant, kDiurnal, kWeekly, kBursty, kTrend, kBatch, kOnOff };
[[nodiscard]] constexpr auto names(LoadFamily) {
  return names_in_order<LoadFamily>("constant", "diurnal", "weekly", "bursty", "trend", "batch",
                                    "on-off");
}

/// 2025-01-06 0:00 UTC, a Monday.
inline constexpr std::int64_t kFirstGeneratedMinute = std::int64_t{20'094} * 24 * 60;

struct GeneratedVm {
  VmFacts facts;
  LoadFamily family{};
  std::int64_t first_minute = 0;
  std::vector<Permille> load;  ///< by minute
};

/// Generates the `which`-th VM of a family for that many days.
[[nodiscard]] GeneratedVm generate_load(LoadFamily family, std::int64_t which, std::int64_t days);

}  // namespace vmnuma::tests
