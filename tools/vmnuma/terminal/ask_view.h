// SPDX-License-Identifier: Apache-2.0
/// Asks the daemon for one view, and whether it is about this host.
#pragma once

#include <string>
#include <utility>

#include "balancer/protocol/response.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Reads an answer of the daemon. The refusal is that the answer is invalid.
template <class View>
[[nodiscard]] tl::expected<View, Refusal> read_view(const std::string& answer) {
  return balancer::decode_view<View>(answer).map_error([](Error error) {
    return Refusal{/*by_daemon=*/false, std::move(error)};
  });
}

/// Asks for a view. Refusals: those of ask() and read_view().
template <class View>
[[nodiscard]] tl::expected<View, Refusal> ask_view(const Invocation& invocation,
                                                   const Surroundings& surroundings,
                                                   const balancer::Command& command) {
  return ask(invocation.socket_path, command, surroundings.time_limit).and_then(read_view<View>);
}

/// Returns whether the daemon's host is simulated or recorded: this host's files then say nothing
/// about it.
[[nodiscard]] inline bool is_about_another_host(const balancer::StatusView& status) {
  return status.uri.starts_with(balancer::kSimulatedUri) ||
         status.uri.starts_with(balancer::kRecordedUri);
}

}  // namespace vmnuma::tools
