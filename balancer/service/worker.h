// SPDX-License-Identifier: Apache-2.0
/// A thread that does blocking work for the service, one task after the other.
///
/// Properties: tasks run in the order in which they were posted; the destructor lets the running
/// task end and drops the others; a queue that is full refuses, so that a slow disk or libvirtd
/// cannot make the service grow.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace vmnuma::balancer {

class Worker {
 public:
  /// `name` is what top(1) shows, at most 15 characters.
  Worker(std::string name, std::size_t most_waiting);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Any thread. False if the queue is full or the worker is stopped: the task will not run.
  [[nodiscard]] bool post(std::function<void()> task);
  /// Lets all tasks that are queued now run, then ends the thread. Any other thread, once.
  void drain();
  /// For timers that run on this thread.
  [[nodiscard]] boost::asio::io_context& context() { return context_; }

 private:
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  const std::size_t most_waiting_;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace vmnuma::balancer
