// SPDX-License-Identifier: Apache-2.0
/// Fake threads whose reads from memory are set by a test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "stats/perf/thread_counters.h"

namespace vmnuma::tests {

class FakeThreadCounters final : public stats::ThreadCounters {
 public:
  /// Lets a thread run, or run on.
  void run(std::int64_t tid, std::int64_t ran_ns, std::int64_t reads) {
    stats::ThreadCount& thread = threads_[tid];
    thread.ran_ns += ran_ns;
    thread.counted_ns += ran_ns;
    thread.reads += reads;
  }
  /// Makes counting any thread fail with this code, or work again if there is none.
  void refuse(std::optional<ErrorCode> code) { refused_ = code; }

  /// Return the number of existing counters, and the most that ever existed.
  [[nodiscard]] std::size_t open() const { return *open_; }
  [[nodiscard]] std::size_t most_open() const { return most_open_; }

  [[nodiscard]] Result<std::unique_ptr<stats::ThreadCounter>> count(std::int64_t tid) override {
    if (refused_) {
      return failure(*refused_, "refused");
    }
    const auto thread = threads_.find(tid);
    if (thread == threads_.end()) {
      return failure(ErrorCode::kVanished, "there is no such thread");
    }
    auto counter = std::make_unique<Counter>(thread->second, open_);
    most_open_ = std::max(most_open_, *open_);
    return counter;
  }

 private:
  class Counter final : public stats::ThreadCounter {
   public:
    Counter(const stats::ThreadCount& thread, std::shared_ptr<std::size_t> open)
        : thread_(thread), before_(thread), open_(std::move(open)) {
      ++*open_;
    }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    ~Counter() override { --*open_; }

    [[nodiscard]] Result<stats::ThreadCount> read() const override {
      return stats::ThreadCount{.reads = thread_.reads - before_.reads,
                                .counted_ns = thread_.counted_ns - before_.counted_ns,
                                .ran_ns = thread_.ran_ns - before_.ran_ns};
    }

   private:
    const stats::ThreadCount& thread_;
    stats::ThreadCount before_;
    std::shared_ptr<std::size_t> open_;
  };

  std::map<std::int64_t, stats::ThreadCount> threads_;  ///< threads are never removed
  std::optional<ErrorCode> refused_;
  std::shared_ptr<std::size_t> open_ = std::make_shared<std::size_t>(0);
  std::size_t most_open_ = 0;
};

}  // namespace vmnuma::tests
