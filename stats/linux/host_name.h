// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace vmnuma::stats {

/// As the kernel knows it (gethostname(2)); "this host" if unavailable.
[[nodiscard]] std::string host_name();

}  // namespace vmnuma::stats
