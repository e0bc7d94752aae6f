// SPDX-License-Identifier: Apache-2.0
/// What this program uses, as Prometheus' client libraries tell of theirs (process_*).
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

/// Looks into a few files of /proc/self. `start_unix_s` comes back in it.
[[nodiscard]] OwnProcess read_own_process(double start_unix_s);

}  // namespace vmnuma::tools
