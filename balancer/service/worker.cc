// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/worker.h"

#include <boost/asio/post.hpp>
#include <pthread.h>
#include <signal.h>

namespace vmnuma::balancer {

Worker::Worker(std::string name, std::size_t most_waiting)
    : guard_(context_.get_executor()), most_waiting_(most_waiting) {
  thread_ = std::thread([this, name = std::move(name)] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals belong to the service's own thread
    pthread_setname_np(pthread_self(), name.c_str());
    context_.run();
  });
}

Worker::~Worker() {
  stopped_ = true;
  context_.stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

bool Worker::post(std::function<void()> task) {
  if (stopped_ || waiting_ >= most_waiting_) {
    return false;
  }
  ++waiting_;
  boost::asio::post(context_, [this, task = std::move(task)] {
    --waiting_;
    task();
  });
  return true;
}

void Worker::drain() {
  stopped_ = true;
  guard_.reset();
  if (thread_.joinable()) {
    thread_.join();
  }
}

}  // namespace vmnuma::balancer
