// SPDX-License-Identifier: Apache-2.0
#include "tools/client/sim_folder.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace vmnuma::tools {

std::string sim_folder(const char* runtime_dir, uid_t uid) {
  return runtime_dir != nullptr && *runtime_dir == '/' ? fmt::format("{}/vmnuma-sim", runtime_dir)
                                                       : fmt::format("/tmp/vmnuma-sim-{}", uid);
}

std::string sim_folder() {
  return sim_folder(std::getenv("XDG_RUNTIME_DIR"), ::geteuid());
}

std::string sim_socket(const std::string& folder) {
  return folder + "/vmnuma.sock";
}

}  // namespace vmnuma::tools
