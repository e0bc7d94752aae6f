// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/history_file.h"

#include "balancer/config/config.h"
#include "tools/vmnuma/terminal/ask_view.h"

namespace vmnuma::tools {

std::string history_file(const std::string& named, const Invocation& invocation,
                         const Surroundings& surroundings) {
  if (!named.empty()) {
    return named;
  }
  const auto status =
      ask_view<balancer::StatusView>(invocation, surroundings, balancer::StatusRequest{});
  return status && !status->history.path.empty() ? status->history.path
                                                 : balancer::Config().state_dir + "/history.sqlite";
}

}  // namespace vmnuma::tools
