// SPDX-License-Identifier: Apache-2.0
#include "placement/model/forecast.h"

namespace vmnuma::placement {

std::string_view name_of(PredictorKind kind) {
  switch (kind) {
    case PredictorKind::kTrained:
      return "trained";
    case PredictorKind::kHistogram:
      return "histogram";
    case PredictorKind::kLastMaximum:
      return "last-maximum";
  }
  return "unknown";
}

}  // namespace vmnuma::placement
