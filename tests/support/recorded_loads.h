// SPDX-License-Identifier: Apache-2.0
/// Loads recorded in the lab (tests/fixtures/loads), in the form of generated ones.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/support/load_families.h"

namespace vmnuma::tests {

/// Reads the file, which has one line per VM: name, vCPUs, memory in MiB, shares, guest OS, and its
/// load in thousandths, minute by minute. The family is the name without its number. Throws
/// std::runtime_error if the file cannot be read or is malformed.
[[nodiscard]] std::vector<GeneratedVm> recorded_loads(const std::filesystem::path& path);

}  // namespace vmnuma::tests
