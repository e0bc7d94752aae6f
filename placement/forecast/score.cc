// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/score.h"

namespace vmnuma {

std::int64_t pinball_loss(Permille forecast, Permille value) {
  const std::int64_t above = (value - forecast).value;
  return above >= 0 ? above * kForecastShare.value : -above * (1000 - kForecastShare.value);
}

void ForecastScore::add(Permille forecast, Permille value) {
  ++values;
  covered += value <= forecast ? 1 : 0;
  loss += pinball_loss(forecast, value);
}

ForecastScore& ForecastScore::operator+=(const ForecastScore& other) {
  values += other.values;
  covered += other.covered;
  loss += other.loss;
  return *this;
}

}  // namespace vmnuma
