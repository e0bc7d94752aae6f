// SPDX-License-Identifier: Apache-2.0
/// A clock for the caller of the simulated host's ports.
///
/// Calls take virtual time: the daemon sets the clock before a step; afterwards it has advanced.
#pragma once

#include "placement/model/amounts.h"

namespace vmnuma::tools {

struct SimClock {
  Microseconds now;
  void spend(Microseconds time) { now += time; }
};

}  // namespace vmnuma::tools
