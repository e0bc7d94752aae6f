// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/history_file.h"

#include "balancer/config/config.h"
#include "balancer/protocol/response.h"
#include "tools/client/client.h"

namespace vmnuma::tools {

std::string history_file(const std::string& named, const Invocation& invocation,
                         const Surroundings& surroundings) {
  if (!named.empty()) {
    return named;
  }
  const auto answer =
      ask(invocation.socket_path, balancer::StatusRequest{}, surroundings.time_limit);
  const auto status = answer ? balancer::decode_view<balancer::StatusView>(*answer)
                             : Result<balancer::StatusView>(tl::unexpected(answer.error().error));
  return status && !status->history.path.empty() ? status->history.path
                                                 : balancer::Config().state_dir + "/history.sqlite";
}

}  // namespace vmnuma::tools
