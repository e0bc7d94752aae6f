// SPDX-License-Identifier: Apache-2.0
// `vmnuma events`: prints past events, and with --follow also new ones.
#include <string>
#include <utility>

#include "tools/vmnuma/terminal/context.h"
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

OrFailure<Answered> ask_events(const Context& context, const balancer::EventsRequest& request) {
  VMNUMA_ASSIGN_OR_RETURN(auto answer, context.ask_text(request));
  return read_view<EventsView>(answer).map([&](EventsView&& view) {
    return Answered{std::move(answer), std::move(view)};
  });
}

/// Returns what to print of an answer; `again`: it is not the first.
std::string events_text(const Answered& answered, bool again, const Invocation& invocation) {
  if (again && answered.view.events.empty()) {
    return "";
  }
  if (invocation.json) {
    return answered.json + "\n";
  }
  if (!again && invocation.format == ListFormat::kTable) {
    return text_of(answered.view);
  }
  const std::string text = text_of(listing_of(answered.view), invocation.format);
  return again && invocation.format != ListFormat::kName ? text.substr(text.find('\n') + 1) : text;
}

}  // namespace

OrFailure<int> EventsRun::run(const Context& context) const {
  balancer::EventsRequest asked = request;
  bool again = false;
  const auto look = [&]() -> OrFailure<int> {
    auto answered = ask_events(context, asked);
    if (answered && answered->view.last < asked.after) {
      asked.after = 0;  // the daemon was restarted in the meantime
      answered = ask_events(context, asked);
    }
    return answered.map([&](const Answered& events) {
      asked.after = events.view.last;
      asked.limit = balancer::kMostHistoryRows;
      return context.print(events_text(events, std::exchange(again, true), context.invocation));
    });
  };
  return follow ? keep_asking(context, {.seconds = follow_seconds}, look) : look();
}

}  // namespace vmnuma::tools
