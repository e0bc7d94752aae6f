// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/history_file.h"

#include "balancer/config/config.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

std::string history_file(const std::string& named, const Context& context) {
  if (!named.empty()) {
    return named;
  }
  const auto status = context.ask(balancer::StatusRequest{});
  return status && !status->history.path.empty() ? status->history.path
                                                 : balancer::Config().state_dir + "/history.sqlite";
}

}  // namespace vmnuma::tools
