// SPDX-License-Identifier: Apache-2.0
#include "placement/model/plan.h"

namespace vmnuma::placement {

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::kInitialPlacement:
      return "initial-placement";
    case Reason::kLoadMove:
      return "load-move";
    case Reason::kLoadSwap:
      return "load-swap";
    case Reason::kLongTermMove:
      return "long-term-move";
    case Reason::kLongTermSwap:
      return "long-term-swap";
    case Reason::kLocalityMove:
      return "locality-move";
    case Reason::kLocalitySwap:
      return "locality-swap";
    case Reason::kForecastMove:
      return "forecast-move";
    case Reason::kAffinityMove:
      return "affinity-move";
    case Reason::kMemoryPull:
      return "memory-pull";
    case Reason::kAdministrator:
      return "administrator";
    case Reason::kCpuAssignment:
      return "cpu-assignment";
  }
  return "unknown";
}

PredictedFigures predicted_figures(std::string_view reason) {
  PredictedFigures figures;
  if (reason == name_of(Reason::kInitialPlacement)) {
    figures.locality_before = false;  // it had no home
  } else if (reason == name_of(Reason::kAdministrator)) {
    figures.imbalance = figures.locality_before = figures.locality_after = false;
  } else if (reason == name_of(Reason::kMemoryPull)) {
    figures.lost_time = figures.imbalance = false;
  } else if (reason == name_of(Reason::kCpuAssignment)) {
    figures = {false, false, false, false};
  }
  return figures;
}

std::string_view name_of(Guard guard) {
  switch (guard) {
    case Guard::kMinimumGain:
      return "minimum-gain";
    case Guard::kDoesNotPay:
      return "does-not-pay";
    case Guard::kDoesNotLast:
      return "does-not-last";
    case Guard::kResidualImbalance:
      return "residual-imbalance";
    case Guard::kResidency:
      return "residency";
    case Guard::kTravel:
      return "travel";
    case Guard::kNoReturn:
      return "no-return";
    case Guard::kSwapReconsider:
      return "swap-reconsider";
    case Guard::kCoreCapacity:
      return "core-capacity";
    case Guard::kNoRoom:
      return "no-room";
    case Guard::kMemoryStays:
      return "memory-stays";
    case Guard::kDoNotMove:
      return "do-not-move";
    case Guard::kNotAllowed:
      return "not-allowed";
    case Guard::kNoFreeCores:
      return "no-free-cores";
    case Guard::kAntiAffinity:
      return "anti-affinity";
    case Guard::kStaleData:
      return "stale-data";
    case Guard::kMoving:
      return "moving";
    case Guard::kActionLimit:
      return "action-limit";
    case Guard::kLongTermImbalance:
      return "long-term-imbalance";
    case Guard::kBreaker:
      return "breaker";
    case Guard::kDisabled:
      return "disabled";
    case Guard::kNotBest:
      return "not-best";
    case Guard::kOwedTime:
      return "owed-time";
    case Guard::kBusierNode:
      return "busier-node";
  }
  return "unknown";
}

}  // namespace vmnuma::placement
