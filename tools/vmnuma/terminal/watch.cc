// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/watch.h"

#include <chrono>
#include <utility>

#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;

/// Used until the daemon has reported the length of its epochs.
constexpr milliseconds kUsualEpoch{2000};

std::optional<milliseconds> ask_epoch_length(const Context& context) {
  const auto status = context.ask(balancer::StatusRequest{});
  return status && status->epoch_length_ms > 0
             ? std::optional(milliseconds(status->epoch_length_ms))
             : std::nullopt;
}

/// Returns what to print of a text that is shown repeatedly.
std::string watched(const std::string& text, bool again, const Context& context) {
  if (!context.invocation.watch) {
    return text;
  }
  if (context.surroundings.out_is_terminal) {
    return "\x1b[H\x1b[J" + text;  // ECMA-48 CUP, ED
  }
  if (!again || context.invocation.json || context.invocation.format == ListFormat::kName) {
    return text;
  }
  return context.invocation.format == ListFormat::kCsv ? text.substr(text.find('\n') + 1)
                                                       : "\n" + text;
}

}  // namespace

OrFailure<int> keep_asking(const Context& context, const Polling& polling,
                           const std::function<OrFailure<int>()>& look) {
  milliseconds period = polling.seconds > 0 ? std::chrono::seconds(polling.seconds) : kUsualEpoch;
  bool is_answered = polling.waits_for_daemon;
  bool is_complaining = false;
  do {
    auto looked = look();
    if (!looked && (!is_answered || looked.error().exit_code == kExitUsage)) {
      return looked;
    }
    if (!looked) {
      if (!is_complaining) {
        Error error = std::move(looked).error().error;
        error.message += "; trying again";
        context.complain(error);
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
      period = (polling.epoch_length ? polling.epoch_length() : ask_epoch_length(context))
                   .value_or(period);
    }
  } while (context.surroundings.pause(period));
  return kExitOk;
}

OrFailure<int> show(const Context& context, const std::function<OrFailure<std::string>()>& text) {
  bool again = false;
  const auto look = [&]() -> OrFailure<int> {
    VMNUMA_ASSIGN_OR_RETURN(const auto shown, text());
    return context.print(watched(shown, std::exchange(again, true), context));
  };
  return context.invocation.watch
             ? keep_asking(context, {.seconds = context.invocation.watch_seconds}, look)
             : look();
}

}  // namespace vmnuma::tools
