// SPDX-License-Identifier: Apache-2.0
/// Waits for another thread's callback, without sleeping and with a time limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace vmnuma::tests {

/// Counts callbacks. All functions from any thread.
class WakeUp {
 public:
  void notify() {
    const std::lock_guard lock(mutex_);
    ++pending_;
    ++total_;
    arrived_.notify_all();
  }

  /// Takes one callback, waiting for it if necessary; returns false if none came within `limit`.
  [[nodiscard]] bool wait(std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, limit, [this] { return pending_ > 0; })) {
      return false;
    }
    --pending_;
    return true;
  }

  [[nodiscard]] int total() const {
    const std::lock_guard lock(mutex_);
    return total_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  int pending_ = 0;
  int total_ = 0;
};

}  // namespace vmnuma::tests
