// SPDX-License-Identifier: Apache-2.0
/// What happened lately, for `vmnuma events`.
///
/// Approach: the lines of the log, but for debugging, are kept in memory, the newest kMost of them;
/// the journal keeps all, for longer. Each has a number, so that who follows them asks for those
/// after the last one that it has. Properties:
///  1. Numbers are 1, 2, 3, ... in the order in which things were told.
///  2. What is left out of an answer, by the limit or because it is not kept any more, is said.
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
  /// Whether any of them is about the VM of this name.
  [[nodiscard]] bool tell_of(const std::string& vm) const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::deque<EventView> events_;
  std::int64_t last_ = 0;
};

/// Whether the request is the first one about a VM of which nothing was told: it may not exist.
[[nodiscard]] bool asks_of_untold(const EventsRequest& request, const RecentEvents& events);

}  // namespace vmnuma::balancer
