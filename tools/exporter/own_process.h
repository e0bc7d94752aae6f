// SPDX-License-Identifier: Apache-2.0
/// Resources used by this program, as reported by Prometheus' client libraries (process_*).
#pragma once

#include <map>
#include <string_view>

namespace vmnuma::tools {

/// Returns those of the metrics process_* that can be read, by name, and `start_unix_s` as the time
/// of the start. Reads a few files of /proc/self.
[[nodiscard]] std::map<std::string_view, double> read_own_process(double start_unix_s);

}  // namespace vmnuma::tools
