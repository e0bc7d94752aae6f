// SPDX-License-Identifier: Apache-2.0
/// Reading what libvirt sends, but not for long.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// All of `fd` up to its end. Errors: unavailable (no end before the deadline), invalid-argument
/// (more than `most` bytes), io.
[[nodiscard]] Result<std::string> read_input(int fd, std::size_t most,
                                             std::chrono::steady_clock::time_point deadline);

}  // namespace vmnuma::tools
