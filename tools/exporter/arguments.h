// SPDX-License-Identifier: Apache-2.0
/// The exporter's command line.
#pragma once

#include <span>
#include <string>

#include "placement/base/result.h"
#include "tools/exporter/http_server.h"

namespace vmnuma::tools {

/// Exit codes.
inline constexpr int kExporterOk = 0;
inline constexpr int kExporterFailed = 1;  ///< it cannot listen, or can no longer do so
inline constexpr int kExporterUsage = 2;   ///< the command line is wrong

struct ExporterArguments {
  std::string socket_path;
  ListenAddress listen;
  std::string web_config_file;  ///< empty: no TLS and no passwords
};

/// Why the program ends right away: help, version, or a wrong command line.
struct ExporterExit {
  int code = kExporterOk;
  std::string text;  ///< for standard output if `code` is kExporterOk, else for standard error
};

/// Reads the arguments (without the program's name).
[[nodiscard]] tl::expected<ExporterArguments, ExporterExit> parse_exporter_arguments(
    std::span<const std::string> arguments);

}  // namespace vmnuma::tools
