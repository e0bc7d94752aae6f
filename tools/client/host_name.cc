// SPDX-License-Identifier: Apache-2.0
#include "tools/client/host_name.h"

#include <array>

#include <unistd.h>

namespace vmnuma::tools {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

}  // namespace vmnuma::tools
