// SPDX-License-Identifier: Apache-2.0
/// Formats errors for programs.
#pragma once

#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// {"error":{"code":"not-found","message":"..."}} on one line.
[[nodiscard]] std::string error_json(const Error& error);

}  // namespace vmnuma::tools
