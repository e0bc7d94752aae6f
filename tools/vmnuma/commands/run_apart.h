// SPDX-License-Identifier: Apache-2.0
/// Runs work in a separate process, so that it can be limited and may fail.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

struct ApartLimits {
  std::chrono::milliseconds time{10'000};
  std::int64_t memory_bytes = std::int64_t{2} << 30U;  ///< of address space beyond what it uses now
  std::optional<std::chrono::seconds> cpu_time = {};
};

/// Returns the result of `work`. The process is forked from this one, which must have only one
/// thread. Its standard output is discarded, and it ends with this process or when its time is up.
/// Errors: busy (not ready in time), no-space (out of memory), unavailable (it ended in some other
/// way, such as by using up its CPU time), io.
[[nodiscard]] Result<std::string> run_apart(const std::function<std::string()>& work,
                                            const ApartLimits& limits);

}  // namespace vmnuma::tools
