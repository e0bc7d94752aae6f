// SPDX-License-Identifier: Apache-2.0
/// Recent events, for `vmnuma events`.
///
/// Approach: the newest kMost log lines, except debug ones, are kept in memory; the journal keeps
/// all of them, for longer. Each has a number, so that a follower asks for those after the last one
/// it has.
/// Properties:
///  1. Numbers are 1, 2, 3, ... in the order in which events were added.
///  2. If something is missing from an answer, due to the limit or because it is no longer kept,
///     the answer says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "balancer/controller/events.h"
#include "balancer/model/view.h"
#include "balancer/protocol/request.h"

namespace vmnuma::balancer {

/// Any thread.
class RecentEvents {
 public:
  static constexpr std::size_t kMost = 4096;

  void add(const LogLine& line, std::int64_t wall_unix_s);
  [[nodiscard]] EventsView answer(const EventsRequest& request) const;
  /// True if any event is about the VM of this name.
  [[nodiscard]] bool mentions_vm(const std::string& vm) const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::deque<EventView> events_;
  std::int64_t last_ = 0;
};

/// True if the request is the first one about a VM without events, which therefore may not exist.
[[nodiscard]] bool asks_about_unknown_vm(const EventsRequest& request, const RecentEvents& events);

}  // namespace vmnuma::balancer
