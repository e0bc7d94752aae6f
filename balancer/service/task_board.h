// SPDX-License-Identifier: Apache-2.0
/// The current task of every thread that may block, and for how long it has run.
///
/// Problem: work on files, on libvirt and on a disk may never end: a process holds its mmap lock,
/// libvirtd accepts a connection but does not answer, a disk is gone. A thread that hangs cannot
/// report it. Approach: each thread has a place on a board and notes there when it begins a task
/// and when it is done. Others look at the board: the service once a second, and the shutdown
/// (signals.h).
///
/// Terms: *allowed* - how long a task of a place may take; *overdue* - it takes longer.
///
/// Properties:
///  - noting never waits for a task;
///  - a task that has ended is never shown;
///  - a place disappears with its thread.
#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace vmnuma::balancer {

/// Thread-safe. Must outlive all its places.
class TaskBoard {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Task {
    std::string doing;  ///< "reading the host": completes "... takes longer than 10 s"
    Time since;
    pid_t thread = 0;  ///< kernel thread id
  };
  struct BusyPlace {
    std::string name;
    std::chrono::milliseconds allowed{};
    Task task;
  };

  /// One thread's place on the board.
  class Place {
   public:
    Place(TaskBoard& board, std::string name, std::chrono::milliseconds allowed);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    /// Notes what the calling thread does from now on; if empty, nothing. Returns the previous
    /// note.
    std::string note(std::string doing);
    /// How long the current task has run; zero between tasks.
    [[nodiscard]] std::chrono::milliseconds busy_for() const;

   private:
    friend class TaskBoard;
    TaskBoard& board_;
    const std::string name_;
    const std::chrono::milliseconds allowed_;
    std::optional<Task> task_;  // guarded by the board's mutex
  };

  TaskBoard() = default;
  TaskBoard(const TaskBoard&) = delete;
  TaskBoard& operator=(const TaskBoard&) = delete;

  /// All busy places, in the order in which they were created.
  [[nodiscard]] std::vector<BusyPlace> busy() const;
  /// The places whose task has, at `now`, run longer than allowed.
  [[nodiscard]] std::vector<BusyPlace> overdue(Time now) const;

 private:
  mutable std::mutex mutex_;
  std::list<const Place*> places_;
};

/// The file for which a thread of this process waits in a system call; empty if the kernel does not
/// show it, or if the thread waits for something else. Never blocks.
[[nodiscard]] std::string file_waited_for(pid_t thread);

/// A description for people: "reading the host takes longer than 10 s, it waits for
/// '/proc/4711/numa_maps'".
[[nodiscard]] std::string overdue_text(const TaskBoard::BusyPlace& place);

}  // namespace vmnuma::balancer
