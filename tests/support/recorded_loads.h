// SPDX-License-Identifier: Apache-2.0
/// Loads that the lab recorded (tests/fixtures/loads), in the shape of generated ones.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/support/load_families.h"

namespace vmnuma::tests {

/// A line a VM: name, vCPUs, memory in MiB, shares, guest OS, and its load in thousandths, minute
/// after minute. The family is the name without its number. Throws std::runtime_error if the file
/// cannot be read or is none.
[[nodiscard]] std::vector<GeneratedVm> recorded_loads(const std::filesystem::path& path);

}  // namespace vmnuma::tests
