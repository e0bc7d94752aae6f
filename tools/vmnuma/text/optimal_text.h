// SPDX-License-Identifier: Apache-2.0
/// Formats a repack, for humans and for programs.
#pragma once

#include <string>

#include "balancer/controller/controller.h"
#include "balancer/optimal/repack.h"

namespace vmnuma::tools {

[[nodiscard]] std::string text_of(const balancer::Repack& repack, const balancer::Outlook& outlook);
/// One line, with its end.
[[nodiscard]] std::string json_of(const balancer::Repack& repack, const balancer::Outlook& outlook);

}  // namespace vmnuma::tools
