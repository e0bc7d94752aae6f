// SPDX-License-Identifier: Apache-2.0
/// Where the daemon's log lines go: the journal with fields when started by systemd, standard error
/// otherwise.
#pragma once

#include "balancer/config/config.h"
#include "balancer/controller/events.h"

namespace vmnuma::balancer {

/// Thread-safe. Lines below `level` are dropped.
class Log {
 public:
  explicit Log(LogLevel level);
  void set_level(LogLevel level) { level_ = level; }
  void write(const LogLine& line) const;
  void write(Severity severity, std::string message) const {
    write(LogLine{severity, std::move(message), {}});
  }

 private:
  LogLevel level_;
  bool to_journal_;
  bool to_people_;  ///< a terminal: without the priority that service managers read
};

}  // namespace vmnuma::balancer
