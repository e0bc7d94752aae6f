// SPDX-License-Identifier: Apache-2.0
/// A thread that does blocking work for the service, one task after the other.
///
/// Properties: tasks run in the order in which they were posted; the destructor lets the running
/// task end and drops the others; a full queue refuses tasks, so that a slow disk or libvirtd
/// cannot make the service grow; every task is on the board while it runs; every wait for the end
/// has a limit, except in the destructor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "balancer/service/task_board.h"

namespace vmnuma::balancer {

/// How long to wait for a worker.
struct Patience {
  std::chrono::milliseconds all;       ///< for everything that is queued
  std::chrono::milliseconds one_task;  ///< for a single task; one that takes longer hangs
};

class Worker {
 public:
  /// `name` is shown by top(1) and the board, at most 15 characters. A task that takes longer than
  /// `allowed` is overdue.
  Worker(TaskBoard& board, std::string name, std::size_t most_waiting,
         std::chrono::milliseconds allowed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Queues a task. False if the queue is full or the worker is stopped: the task will not run.
  /// `doing` is for the board. Any thread.
  [[nodiscard]] bool post(std::string doing, std::function<void()> task);
  /// Runs `task` and notes that on the board. This worker's thread only: for parts of a task that
  /// have a deadline of their own, and for timer handlers.
  void run(std::string doing, const std::function<void()>& task);
  /// Lets all tasks queued now run, then ends the thread. False if that takes longer than
  /// `patience`; the thread then continues. To be called by one other thread; it cannot be undone.
  [[nodiscard]] bool drain(Patience patience);
  /// Lets the running task end, however long that takes, and drops the others. Any other thread.
  void end();
  /// How long the running task has taken so far.
  [[nodiscard]] std::chrono::milliseconds busy_for() const { return place_.busy_for(); }
  /// For timers that run on this thread.
  [[nodiscard]] boost::asio::io_context& context() { return context_; }

 private:
  TaskBoard::Place place_;
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  const std::size_t most_waiting_;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> stopped_ = false;
  std::promise<void> ended_;
  std::future<void> end_{ended_.get_future()};
  std::thread thread_;
};

/// Waits until `worker` makes `done` ready. False if that takes longer than `patience`.
[[nodiscard]] bool wait_for(const std::future<void>& done, const Worker& worker, Patience patience);

}  // namespace vmnuma::balancer
