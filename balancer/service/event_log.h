// SPDX-License-Identifier: Apache-2.0
/// The daemon's messages: to the log, and to clients that ask for events (recent_events.h).
#pragma once

#include <string>
#include <utility>

#include "balancer/config/config.h"
#include "balancer/service/host_time.h"
#include "balancer/service/log.h"
#include "balancer/service/recent_events.h"

namespace vmnuma::balancer {

/// Any thread; set_level() on the service's thread only.
class EventLog {
 public:
  /// `time` is the host's; events are stamped with it.
  EventLog(Severity level, HostTime time) : log_(level), time_(time) {}

  void say(const LogLine& line) {
    log_.write(line);
    recent_.add(line, time_.wall_unix_s());
  }
  void say(Severity severity, std::string message) { say({severity, std::move(message), {}}); }

  void set_level(Severity level) { log_.set_level(level); }
  [[nodiscard]] const RecentEvents& recent() const { return recent_; }

 private:
  Log log_;
  RecentEvents recent_;
  HostTime time_;
};

}  // namespace vmnuma::balancer
