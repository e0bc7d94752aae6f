// SPDX-License-Identifier: Apache-2.0
#include "placement/model/reason.h"

namespace vmnuma {

PredictedFigures predicted_figures(std::string_view reason, bool is_known) {
  const std::optional<Reason> known = value_named<Reason>(reason);
  if (!is_known) {
    return {false, false, false, false};
  }
  if (known == Reason::kAdministrator || known == Reason::kMakeRoom || known == Reason::kSpill) {
    return {true, false, false, false};
  }
  if (known == Reason::kCpuAssignment) {
    return {false, false, false, false};
  }
  if (known == Reason::kMemoryPull) {
    return {false, false, true, true};
  }
  const bool had_a_home = known != Reason::kInitialPlacement;
  return {true, true, had_a_home, true};
}

}  // namespace vmnuma
