// SPDX-License-Identifier: Apache-2.0
/// Asks the daemon for one view, and whether it is about this host.
#pragma once

#include <utility>

#include "balancer/protocol/response.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Asks for a view. Errors: those of ask(), and of decode_view() for the answer.
template <class View>
[[nodiscard]] Result<View> ask_view(const Invocation& invocation, const Surroundings& surroundings,
                                    balancer::Command command) {
  const auto result = ask(invocation.socket_path, std::move(command), surroundings.time_limit);
  if (!result) {
    return tl::unexpected(result.error().error);
  }
  return balancer::decode_view<View>(*result);
}

/// Returns whether the daemon's host is simulated or recorded: this host's files then say nothing
/// about it.
[[nodiscard]] inline bool is_about_another_host(const balancer::StatusView& status) {
  return status.uri.starts_with(balancer::kSimulatedUri) ||
         status.uri.starts_with(balancer::kRecordedUri);
}

}  // namespace vmnuma::tools
