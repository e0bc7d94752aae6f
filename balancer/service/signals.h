// SPDX-License-Identifier: Apache-2.0
/// Handles the daemon's signals, and forces an exit if the orderly shutdown hangs.
///
/// Problem: a signal that arrives before there is a handler ends the process, or is lost; and a
/// stop waits for threads that may hang, as may the thread that should notice this. Approach:
/// signals are blocked for all threads as the first thing in main, and one thread takes them. It
/// passes them on and, after a stop was requested, waits for the process to end; if that takes too
/// long it reports what hangs and ends the process.
///
/// Properties:
///  - no signal is lost from the constructor on;
///  - a stop requested before there are handlers ends the process at once, because nothing has
///    begun;
///  - later, the process ends at most kPatience after the signal, or at the time given to
///    `allow_until`, whatever its other threads do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "balancer/service/task_board.h"

namespace vmnuma::balancer {

class Signals {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// The time limit of a stop; administrators are promised 5 s.
  static constexpr std::chrono::milliseconds kPatience{4000};
  /// The exit status of a process that hung while stopping.
  static constexpr int kExitHung = 5;

  /// Called on the signal thread; they must only forward the signal. `stop` is called once.
  struct Handlers {
    std::function<void()> reload;  ///< SIGHUP
    std::function<void()> stop;    ///< SIGTERM, SIGINT
  };

  /// Must be created while the process has only one thread. `board` shows what hangs.
  explicit Signals(const TaskBoard& board);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  /// Lifts the time limit of the stop, so this object must be destroyed last.
  ~Signals();

  /// Sets the handlers. They also receive a SIGHUP that arrived earlier.
  void pass_to(Handlers handlers);
  /// Removes the handlers; waits for a running one. True if a stop was requested.
  [[nodiscard]] bool stop_passing();
  /// Allows the current or a future stop to take until this time.
  void allow_until(Time until);

 private:
  void take();
  [[noreturn]] void give_up() const;

  const TaskBoard& board_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex.
  std::optional<Handlers> handlers_;
  bool reload_waits_ = false;
  bool over_ = false;
  std::optional<Time> until_;  ///< set once a stop was requested
  std::thread thread_;
};

}  // namespace vmnuma::balancer
