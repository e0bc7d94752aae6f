// SPDX-License-Identifier: Apache-2.0
/// `vmnumad --replay`: a daemon that shows a recording, epoch after epoch, at the pace at which it
/// was made or faster.
///
/// Clients cannot tell it from a daemon on the host of that time, but that nothing can be changed:
/// `pause` and `resume` hold the recording and let it go on, `sim step` goes so many epochs on or
/// back and holds it there. Properties:
///  1. At its end it stands still and goes on answering.
///  2. A stop is answered between two epochs.
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
    LogLevel log_level{};
    std::int64_t speed = 1;  ///< at least 1
    std::function<Result<std::unique_ptr<stats::History>>()> empty_history;
  };

  /// Errors: of the recording, of the history, of the socket.
  [[nodiscard]] static Result<std::unique_ptr<RecordedService>> create(Setup setup);
  RecordedService(const RecordedService&) = delete;
  RecordedService& operator=(const RecordedService&) = delete;
  ~RecordedService();

  /// Until it is told to stop. The caller's thread.
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
