// SPDX-License-Identifier: Apache-2.0
/// Resources used by this program, as reported by Prometheus' client libraries (process_*).
#pragma once

#include <optional>

namespace vmnuma::tools {

struct OwnProcess {
  std::optional<double> cpu_seconds;  ///< since it was started
  std::optional<double> resident_bytes;
  std::optional<double> virtual_bytes;
  std::optional<double> open_fds;
  std::optional<double> max_fds;
  double start_unix_s = 0;
};

/// Reads a few files of /proc/self. `start_unix_s` is copied to the result.
[[nodiscard]] OwnProcess read_own_process(double start_unix_s);

}  // namespace vmnuma::tools
