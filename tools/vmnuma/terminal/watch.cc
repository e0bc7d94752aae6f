// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/watch.h"

#include <chrono>
#include <utility>

#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/messages.h"

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;

/// Used until the daemon has reported the length of its epochs.
constexpr milliseconds kUsualEpoch{2000};

std::optional<milliseconds> ask_epoch_length(const Invocation& invocation,
                                             const Surroundings& surroundings) {
  const auto status =
      ask_view<balancer::StatusView>(invocation, surroundings, balancer::StatusRequest{});
  return status && status->epoch_length_ms > 0
             ? std::optional(milliseconds(status->epoch_length_ms))
             : std::nullopt;
}

}  // namespace

int keep_asking(const Invocation& invocation, Surroundings& surroundings, const Polling& polling,
                const std::function<tl::expected<int, Refusal>()>& look) {
  milliseconds period = polling.seconds > 0 ? std::chrono::seconds(polling.seconds) : kUsualEpoch;
  bool is_answered = polling.waits_for_daemon;
  bool is_complaining = false;
  do {
    auto looked = look();
    if (!looked && !is_answered) {
      return fail(invocation, surroundings, looked.error());
    }
    if (!looked) {
      if (!is_complaining) {
        Error error = std::move(looked).error().error;
        error.message += "; trying again";
        (void)fail(invocation, surroundings, error, kExitOk);
      }
      is_complaining = true;
      continue;
    }
    if (*looked != kExitOk) {
      return *looked;
    }
    is_answered = true;
    is_complaining = false;
    if (polling.seconds == 0) {
      period = (polling.epoch_length ? polling.epoch_length()
                                     : ask_epoch_length(invocation, surroundings))
                   .value_or(period);
    }
  } while (surroundings.pause(period));
  return kExitOk;
}

int watch(const Invocation& invocation, Surroundings& surroundings,
          const std::function<tl::expected<int, Refusal>(bool again)>& show) {
  bool again = false;
  return keep_asking(invocation, surroundings, {.seconds = invocation.watch_seconds}, [&] {
    auto shown = show(again);
    again = again || shown;
    return shown;
  });
}

std::string watched(const std::string& text, bool again, const Invocation& invocation,
                    const Surroundings& surroundings) {
  if (!invocation.watch) {
    return text;
  }
  if (surroundings.out_is_terminal) {
    return "\x1b[H\x1b[J" + text;  // ECMA-48 CUP, ED
  }
  if (!again || invocation.json || invocation.format == ListFormat::kName) {
    return text;
  }
  return invocation.format == ListFormat::kCsv ? text.substr(text.find('\n') + 1) : "\n" + text;
}

}  // namespace vmnuma::tools
