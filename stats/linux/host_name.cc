// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/host_name.h"

#include <array>

#include <unistd.h>

namespace vmnuma::stats {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

}  // namespace vmnuma::stats
