// SPDX-License-Identifier: Apache-2.0
/// Asks the daemon for one view, for commands that need several.
#pragma once

#include <utility>

#include "balancer/protocol/response.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Errors: those of ask(), and what decode_view() says of the answer.
template <class View>
[[nodiscard]] Result<View> ask_view(const Invocation& invocation, const Surroundings& surroundings,
                                    balancer::Command command) {
  const auto result = ask(invocation.socket_path, std::move(command), surroundings.time_limit);
  if (!result) {
    return tl::unexpected(result.error().error);
  }
  return balancer::decode_view<View>(*result);
}

}  // namespace vmnuma::tools
