// SPDX-License-Identifier: Apache-2.0
/// Reads libvirt's input, with a time limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Reads all of `fd` up to its end. Errors: unavailable (no end before the deadline),
/// invalid-argument (more than `most` bytes), io.
[[nodiscard]] Result<std::string> read_input(int fd, std::size_t most,
                                             std::chrono::steady_clock::time_point deadline);

}  // namespace vmnuma::tools
