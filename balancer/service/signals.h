// SPDX-License-Identifier: Apache-2.0
/// The daemon's signals, and its end where the orderly one hangs.
///
/// Problem: a signal that comes before somebody handles it ends the process, or is lost; and a stop
/// waits for threads that may hang, as may whoever would notice. Approach: signals are blocked for
/// all threads as the first thing in main, and one thread takes them. It passes them on and, after
/// a stop was asked for, waits for the process to end; if that takes too long it says what hangs
/// and ends it.
///
/// Properties:
///  - no signal is lost from the constructor on;
///  - a stop that is asked for before anybody can be told ends the process at once, because nothing
///    has begun;
///  - afterwards the process ends at most kPatience after the signal, or when `allow_until` said,
///    whatever its other threads do.
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
  /// What a stop may take; an administrator who waits for it is promised 5 s.
  static constexpr std::chrono::milliseconds kPatience{4000};
  /// The exit status of a process whose stop hung.
  static constexpr int kExitHung = 5;

  /// Called on the thread of signals; they must only pass the word on. `stop` is called once.
  struct Handlers {
    std::function<void()> reload;  ///< SIGHUP
    std::function<void()> stop;    ///< SIGTERM, SIGINT
  };

  /// Of a process with one thread. `board` tells what hangs.
  explicit Signals(const TaskBoard& board);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  /// To be called last of all: it ends the limit of the stop.
  ~Signals();

  /// Who is told from now on, also of a SIGHUP that came before.
  void pass_to(Handlers handlers);
  /// Nobody is told any more; waits for a handler that runs. True if a stop was asked for.
  [[nodiscard]] bool pass_to_nobody();
  /// The stop that runs, or comes, may take until then.
  void allow_until(Time until);

 private:
  void take();
  [[noreturn]] void give_up() const;

  const TaskBoard& board_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex.
  std::optional<Handlers> handlers_;
  bool reload_waits_ = false;
  bool over_ = false;
  std::optional<Time> until_;  ///< set: a stop was asked for
  std::thread thread_;
};

}  // namespace vmnuma::balancer
