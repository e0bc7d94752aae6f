// SPDX-License-Identifier: Apache-2.0
/// The destination of the daemon's log lines: the journal, with fields, if standard error is
/// connected to it; otherwise standard error, as text for people.
#pragma once

#include <atomic>

#include "balancer/config/config.h"
#include "balancer/controller/events.h"

namespace vmnuma::balancer {

/// Thread-safe. Lines below `level` are dropped.
class Log {
 public:
  explicit Log(Severity level);
  void set_level(Severity level) { level_ = level; }
  void write(const LogLine& line) const;
  void write(Severity severity, std::string message) const {
    write(LogLine{severity, std::move(message), {}});
  }

 private:
  std::atomic<Severity> level_;
  bool to_journal_;
};

}  // namespace vmnuma::balancer
