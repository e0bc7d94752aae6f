// SPDX-License-Identifier: Apache-2.0
#include "placement/model/forecast.h"

namespace vmnuma::placement {}  // namespace vmnuma::placement
