// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/watch.h"

#include <chrono>
#include <utility>

#include "balancer/protocol/response.h"
#include "tools/client/client.h"
#include "tools/vmnuma/terminal/messages.h"

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;

tl::expected<milliseconds, Refusal> epoch_length(const Invocation& invocation,
                                                 const Surroundings& surroundings) {
  const auto result =
      ask(invocation.socket_path, balancer::StatusRequest{}, surroundings.time_limit);
  if (!result) {
    return tl::unexpected(result.error());
  }
  const auto status = balancer::decode_view<balancer::StatusView>(*result);
  if (!status || status->epoch_length_ms <= 0) {
    return tl::unexpected(Refusal{
        /*by_daemon=*/false, {ErrorCode::kCorrupt, 0, "the daemon's status has no epoch length"}});
  }
  return milliseconds(status->epoch_length_ms);
}

}  // namespace

int watch(const Invocation& invocation, Surroundings& surroundings,
          const std::function<int(std::string_view before)>& show) {
  const std::string_view clear =
      surroundings.out_is_terminal ? "\x1b[H\x1b[J" : "";  // ECMA-48 CUP, ED
  for (std::string_view before = clear;;
       before = surroundings.out_is_terminal || invocation.json ? clear : "\n") {
    if (const int code = show(before); code != kExitOk) {
      return code;
    }
    tl::expected<milliseconds, Refusal> period = std::chrono::seconds(invocation.watch_seconds);
    if (invocation.watch_seconds == 0) {
      period = epoch_length(invocation, surroundings);
    }
    if (!period) {
      return fail(invocation, surroundings, period.error());
    }
    if (!surroundings.pause(*period)) {
      return kExitOk;
    }
  }
}

}  // namespace vmnuma::tools
