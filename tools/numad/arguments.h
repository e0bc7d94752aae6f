// SPDX-License-Identifier: Apache-2.0
/// The command line with which libvirt calls numad.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// `-w CPUS[:MIB]` asks where a VM with that many vCPUs and that much memory should start.
struct NumadArguments {
  std::int32_t vcpus = 0;       ///< from 1
  std::int64_t memory_mib = 0;  ///< 0: unknown
  std::string socket_path;
  bool help = false;     ///< requested; everything else is ignored
  bool version = false;  ///< likewise
};

/// Reads the arguments (without the program's name). Error: invalid-argument, a sentence for
/// humans.
[[nodiscard]] Result<NumadArguments> parse_numad_arguments(std::span<const std::string> arguments);

/// What --help prints.
[[nodiscard]] std::string numad_help();

}  // namespace vmnuma::tools
