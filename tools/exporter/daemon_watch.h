// SPDX-License-Identifier: Apache-2.0
/// Polls the daemon on a thread of its own.
///
/// Properties:
///  - there is one reading at a time, however slow the daemon is;
///  - a failed reading is reported like any other;
///  - the destructor waits for the reading in progress, which has a time limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tools/exporter/reading.h"

namespace vmnuma::tools {

class DaemonWatch {
 public:
  /// The default length of the balancer's epochs.
  static constexpr std::chrono::milliseconds kInterval{2000};
  static constexpr std::chrono::milliseconds kLimit{1000};

  struct Setup {
    std::function<Result<Views>()> read;  ///< may block
    std::function<void(const Reading&)> tell;
    std::function<void(const std::string&)> log;  ///< gets messages for humans, each once
    std::chrono::milliseconds interval = kInterval;
  };

  /// Reads once, then periodically. The functions are called from one thread at a time.
  explicit DaemonWatch(Setup setup);

 private:
  void read_once();
  void run(const std::stop_token& stop);

  Setup setup_;
  double began_unix_s_;  ///< shortly after the program started
  bool was_up_ = true;
  std::int64_t failures_ = 0;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  ///< last member, so that it ends first
};

}  // namespace vmnuma::tools
