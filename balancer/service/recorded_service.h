// SPDX-License-Identifier: Apache-2.0
/// `vmnumad --replay`: a daemon that plays a recording, epoch after epoch, at its original pace or
/// faster.
///
/// To clients it looks like a daemon on the host of that time, except that nothing can be changed:
/// `pause` and `resume` hold and continue the recording, `sim step` goes a number of epochs forward
/// or back and holds it there. Properties:
///  1. At the end of the recording it stays there but keeps answering.
///  2. A stop takes effect between two epochs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "balancer/config/config.h"
#include "balancer/service/control_socket.h"
#include "balancer/service/log.h"
#include "balancer/service/recorded_host.h"
#include "balancer/service/signals.h"

namespace vmnuma::balancer {

class RecordedService {
 public:
  struct Setup {
    Signals& signals;
    std::string path;  ///< of the recording
    std::string socket_path;
    std::string socket_group;
    Severity log_level{};
    std::int64_t speed = 1;  ///< at least 1
    std::function<Result<std::unique_ptr<stats::History>>()> empty_history;
  };

  /// Errors: those of the recording, of the history, and of the socket.
  [[nodiscard]] static Result<std::unique_ptr<RecordedService>> create(Setup setup);
  RecordedService(const RecordedService&) = delete;
  RecordedService& operator=(const RecordedService&) = delete;
  ~RecordedService();

  /// Returns when requested to stop. Runs on the caller's thread.
  void run();

 private:
  explicit RecordedService(Setup setup);
  [[nodiscard]] Result<Answer> answer(const Command& command);
  [[nodiscard]] Answer place() const;
  void on_epoch();
  void arm();

  Setup setup_;
  boost::asio::io_context context_;
  boost::asio::steady_timer timer_;
  Log log_;
  std::atomic<bool> is_stopped_ = false;
  bool is_held_ = false;
  std::unique_ptr<RecordedHost> host_;
  std::unique_ptr<ControlSocket> socket_;
};

}  // namespace vmnuma::balancer
