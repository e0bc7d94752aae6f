// SPDX-License-Identifier: Apache-2.0
/// Threads whose reads from memory a test decides on.
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
  /// A thread runs, or has run on.
  void run(std::int64_t tid, std::int64_t ran_ns, std::int64_t reads) {
    stats::ThreadCount& thread = threads_[tid];
    thread.ran_ns += ran_ns;
    thread.counted_ns += ran_ns;
    thread.reads += reads;
  }
  /// Counting any thread fails with this from now on, or no longer.
  void refuse(std::optional<ErrorCode> code) { refused_ = code; }

  /// Counters that there are now, and the most there ever were.
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

  std::map<std::int64_t, stats::ThreadCount> threads_;  ///< none is ever removed
  std::optional<ErrorCode> refused_;
  std::shared_ptr<std::size_t> open_ = std::make_shared<std::size_t>(0);
  std::size_t most_open_ = 0;
};

}  // namespace vmnuma::tests
