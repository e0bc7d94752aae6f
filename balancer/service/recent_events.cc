// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/recent_events.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "placement/base/number.h"

namespace vmnuma::balancer {

namespace {

EventView event_of(const LogLine& line) {
  EventView event;
  event.level = line.severity;
  event.message = line.message;
  for (const auto& [name, value] : line.fields) {
    if (name == "VM") {
      event.vms.push_back(value);
    } else if (name == "ACTION") {
      event.action = whole_number<std::int64_t>(value);
    } else if (name == "REASON") {
      event.reason = value;
    }
  }
  return event;
}

bool is_about(const EventView& event, const std::string& vm) {
  return std::ranges::find(event.vms, vm) != event.vms.end();
}

bool matches(const EventView& event, const EventsRequest& request) {
  return event.level >= request.level &&
         (!request.since_unix_s || event.time_unix_s >= *request.since_unix_s) &&
         (!request.vm || is_about(event, *request.vm));
}

}  // namespace

void RecentEvents::add(const LogLine& line, std::int64_t wall_unix_s) {
  if (line.severity == Severity::kDebug) {
    return;
  }
  EventView event = event_of(line);
  event.time_unix_s = wall_unix_s;
  const std::scoped_lock lock(mutex_);
  event.number = ++last_;
  events_.push_back(std::move(event));
  if (events_.size() > kMost) {
    events_.pop_front();
  }
}

EventsView RecentEvents::answer(const EventsRequest& request) const {
  const std::scoped_lock lock(mutex_);
  EventsView view;
  view.last = last_;
  view.truncated = !events_.empty() && events_.front().number - 1 > request.after;
  for (auto event = events_.rbegin(); event != events_.rend() && event->number > request.after;
       ++event) {
    if (!matches(*event, request)) {
      continue;
    }
    if (static_cast<std::int64_t>(view.events.size()) == request.limit) {
      view.truncated = true;
      break;
    }
    view.events.push_back(*event);
  }
  std::reverse(view.events.begin(), view.events.end());
  return view;
}

bool RecentEvents::mentions_vm(const std::string& vm) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(events_,
                             [&vm](const EventView& event) { return is_about(event, vm); });
}

bool asks_about_unknown_vm(const EventsRequest& request, const RecentEvents& events) {
  return request.vm && request.after == 0 && !events.mentions_vm(*request.vm);
}

}  // namespace vmnuma::balancer
