// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace vmnuma::stats {

/// Returns the host's name as known to the kernel (gethostname(2)); "this host" if unavailable.
[[nodiscard]] std::string host_name();

}  // namespace vmnuma::stats
