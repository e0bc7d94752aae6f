// SPDX-License-Identifier: Apache-2.0
/// A configuration as rows, for people and programs.
#pragma once

#include "balancer/config/config.h"
#include "balancer/model/view.h"

namespace vmnuma::balancer {

/// Lists every key and option in the order of the example file, then those of each VM
/// (`vm.NAME.KEY`), with values as written in the file but without quotes.
[[nodiscard]] ConfigView config_view(const Config& config);

}  // namespace vmnuma::balancer
