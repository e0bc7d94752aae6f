// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/worker.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <pthread.h>
#include <signal.h>

namespace vmnuma::balancer {
namespace {

/// How often a waiting thread checks whether the running task hangs.
constexpr std::chrono::milliseconds kLookEvery{50};

}  // namespace

Worker::Worker(TaskBoard& board, std::string name, std::size_t most_waiting,
               std::chrono::milliseconds allowed)
    : place_(board, name, allowed), guard_(context_.get_executor()), most_waiting_(most_waiting) {
  thread_ = std::thread([this, name = std::move(name)] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals have a thread of their own
    pthread_setname_np(pthread_self(), name.c_str());
    context_.run();
    ended_.set_value();
  });
}

Worker::~Worker() {
  end();
}

bool Worker::post(std::string doing, std::function<void()> task) {
  if (stopped_ || waiting_ >= most_waiting_) {
    return false;
  }
  ++waiting_;
  boost::asio::post(context_, [this, doing = std::move(doing), task = std::move(task)]() mutable {
    --waiting_;
    run(std::move(doing), task);
  });
  return true;
}

void Worker::run(std::string doing, const std::function<void()>& task) {
  std::string before = place_.note(std::move(doing));
  task();
  (void)place_.note(std::move(before));
}

bool Worker::drain(Patience patience) {
  stopped_ = true;
  guard_.reset();
  if (thread_.joinable() && !wait_for(end_, *this, patience)) {
    return false;
  }
  end();
  return true;
}

void Worker::end() {
  stopped_ = true;
  context_.stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

bool wait_for(const std::future<void>& done, const Worker& worker, Patience patience) {
  const auto until = std::chrono::steady_clock::now() + patience.all;
  while (done.wait_for(kLookEvery) != std::future_status::ready) {
    if (std::chrono::steady_clock::now() >= until || worker.busy_for() > patience.one_task) {
      return false;
    }
  }
  return true;
}

}  // namespace vmnuma::balancer
