// SPDX-License-Identifier: Apache-2.0
#include "placement/model/plan.h"

namespace vmnuma::placement {

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

}  // namespace vmnuma::placement
