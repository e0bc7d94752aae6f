// SPDX-License-Identifier: Apache-2.0
// `vmnuma events`: prints past events, and with --follow also new ones.
#include <optional>
#include <string>
#include <utility>

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/terminal/watch.h"
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
  VMNUMA_ASSIGN_OR_RETURN(auto answer,
                          ask(invocation.socket_path, request, surroundings.time_limit));
  return read_view<EventsView>(answer).map([&](EventsView&& view) {
    return Answered{std::move(answer), std::move(view)};
  });
}

/// Returns what to print of an answer that is not the first.
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
  if (!follow) {
    const auto answered = ask_events(invocation, surroundings, request);
    return answered ? print(invocation, surroundings, first(*answered, invocation))
                    : fail(invocation, surroundings, answered.error());
  }
  bool again = false;
  return keep_asking(invocation, surroundings, {.seconds = follow_seconds},
                     [&]() -> tl::expected<int, Refusal> {
                       auto answered = ask_events(invocation, surroundings, request);
                       // The daemon was restarted in the meantime.
                       if (answered && answered->view.last < request.after) {
                         request.after = 0;
                         answered = ask_events(invocation, surroundings, request);
                       }
                       if (!answered) {
                         return tl::unexpected(std::move(answered).error());
                       }
                       const std::string text =
                           again ? continued(*answered, invocation) : first(*answered, invocation);
                       again = true;
                       request.after = answered->view.last;
                       request.limit = balancer::kMostHistoryRows;
                       return print(invocation, surroundings, text);
                     });
}

}  // namespace vmnuma::tools
