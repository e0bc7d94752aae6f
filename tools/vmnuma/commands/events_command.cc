// SPDX-License-Identifier: Apache-2.0
// `vmnuma events`: what happened, and with --follow what happens.
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "balancer/protocol/response.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

using balancer::EventsView;

/// An answer as sent, and as parsed.
struct Answered {
  std::string json;
  EventsView view;
};

tl::expected<Answered, Refusal> ask_events(const Invocation& invocation,
                                           const Surroundings& surroundings,
                                           const balancer::EventsRequest& request) {
  auto answer = ask(invocation.socket_path, request, surroundings.time_limit);
  if (!answer) {
    return tl::unexpected(std::move(answer).error());
  }
  return balancer::decode_view<EventsView>(*answer)
      .map([&](EventsView&& view) {
        return Answered{std::move(*answer), std::move(view)};
      })
      .map_error([](Error error) {
        return Refusal{/*by_daemon=*/false, std::move(error)};
      });
}

/// The length of the daemon's epochs.
tl::expected<std::chrono::milliseconds, Refusal> epoch_of(const Invocation& invocation,
                                                          const Surroundings& surroundings) {
  return ask(invocation.socket_path, balancer::StatusRequest{}, surroundings.time_limit)
      .and_then([](const std::string& answer) -> tl::expected<std::chrono::milliseconds, Refusal> {
        const auto status = balancer::decode_view<balancer::StatusView>(answer);
        if (!status || status->epoch_length_ms <= 0) {
          return tl::unexpected(
              Refusal{/*by_daemon=*/false,
                      {ErrorCode::kCorrupt, 0, "the daemon's status has no epoch length"}});
        }
        return std::chrono::milliseconds(status->epoch_length_ms);
      });
}

/// What is printed of an answer after earlier ones.
std::string continued(const Answered& answered, const Invocation& invocation) {
  if (answered.view.events.empty()) {
    return "";
  }
  if (invocation.json) {
    return answered.json + "\n";
  }
  const std::string text = text_of(listing_of(answered.view), invocation.format);
  return invocation.format == ListFormat::kName ? text : text.substr(text.find('\n') + 1);
}

std::string first(const Answered& answered, const Invocation& invocation) {
  return invocation.json ? answered.json + "\n"
         : invocation.format == ListFormat::kTable
             ? text_of(answered.view)
             : text_of(listing_of(answered.view), invocation.format);
}

}  // namespace

int EventsRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  balancer::EventsRequest request;
  request.limit = limit;
  request.since_unix_s = since_unix_s;
  request.vm = vm.empty() ? std::nullopt : std::optional(vm);
  request.level = level;
  auto answered = ask_events(invocation, surroundings, request);
  if (!answered) {
    return fail(invocation, surroundings, answered.error());
  }
  if (!follow) {
    return print(invocation, surroundings, first(*answered, invocation));
  }
  tl::expected<std::chrono::milliseconds, Refusal> period = std::chrono::seconds(follow_seconds);
  if (follow_seconds == 0) {
    period = epoch_of(invocation, surroundings);
  }
  if (!period) {
    return fail(invocation, surroundings, period.error());
  }
  std::string text = first(*answered, invocation);
  request.limit = balancer::kMostHistoryRows;
  for (;;) {
    if (const int code = print(invocation, surroundings, text); code != kExitOk) {
      return code;
    }
    request.after = answered->view.last;
    if (!surroundings.pause(*period)) {
      return kExitOk;
    }
    answered = ask_events(invocation, surroundings, request);
    if (answered && answered->view.last < request.after) {  // from a daemon that was started since
      request.after = 0;
      answered = ask_events(invocation, surroundings, request);
    }
    if (!answered) {
      return fail(invocation, surroundings, answered.error());
    }
    text = continued(*answered, invocation);
  }
}

}  // namespace vmnuma::tools
