// SPDX-License-Identifier: Apache-2.0
/// Tests counters of threads: the fake one, and those of perf_event_open(2) with software events,
/// which every machine has: page faults in place of reads from memory.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stats/perf/perf_counters.h"
#include "tests/support/fake_thread_counters.h"

namespace vmnuma::tests {
namespace {

using stats::PerfCounters;
using stats::PerfEvents;
using stats::ThreadCount;

constexpr PerfEvents kFaults{.reads = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN}};
constexpr PerfEvents kFaultsAndClock{
    .reads = kFaults.reads,
    .cycles = PerfEvents::Cycles{.all = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
                                 .stalled = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}}};

/// Threads that can be made to do the work that is counted.
class Threads {
 public:
  virtual ~Threads() = default;
  virtual stats::ThreadCounters& counters() = 0;
  virtual std::int64_t start() = 0;
  /// Returns once the work is done.
  virtual void work(std::int64_t tid, std::int64_t reads) = 0;
  virtual void end(std::int64_t tid) = 0;
};

class FakeThreads final : public Threads {
 public:
  stats::ThreadCounters& counters() override { return counters_; }
  std::int64_t start() override {
    counters_.run(++last_, 0, 0);
    return last_;
  }
  void work(std::int64_t tid, std::int64_t reads) override {
    counters_.run(tid, reads * 1000, reads);
  }
  void end(std::int64_t /*tid*/) override {}

 private:
  FakeThreadCounters counters_;
  std::int64_t last_ = 0;
};

/// A thread that touches new pages on request.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) { done_.acquire(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { end(); }

  [[nodiscard]] std::int64_t tid() const { return tid_; }
  void work(std::int64_t pages) {
    pages_ = pages;
    work_given_.release();
    done_.acquire();
  }
  void end() {
    if (thread_.joinable()) {
      pages_ = 0;
      work_given_.release();
      thread_.join();
    }
  }

 private:
  void run() {
    tid_ = ::syscall(SYS_gettid);
    done_.release();
    for (work_given_.acquire(); pages_ > 0; work_given_.acquire()) {
      touch(static_cast<std::size_t>(pages_));
      done_.release();
    }
  }
  static void touch(std::size_t pages) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory =
        ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    VMNUMA_CHECK(memory != MAP_FAILED);
    (void)::madvise(memory, pages * page, MADV_NOHUGEPAGE);  // a kernel without them is fine
    for (std::size_t i = 0; i < pages; ++i) {
      static_cast<volatile char*>(memory)[i * page] = 1;
    }
    (void)::munmap(memory, pages * page);
  }

  std::int64_t tid_ = 0;
  std::int64_t pages_ = 0;
  std::binary_semaphore work_given_{0};
  std::binary_semaphore done_{0};
  std::thread thread_;  // last: it uses the others
};

class RealThreads final : public Threads {
 public:
  explicit RealThreads(const PerfEvents& events) : counters_(events) {}
  stats::ThreadCounters& counters() override { return counters_; }
  std::int64_t start() override {
    workers_.push_back(std::make_unique<Worker>());
    return workers_.back()->tid();
  }
  void work(std::int64_t tid, std::int64_t reads) override { of(tid).work(reads); }
  void end(std::int64_t tid) override { of(tid).end(); }

 private:
  Worker& of(std::int64_t tid) {
    for (const auto& worker : workers_) {
      if (worker->tid() == tid) {
        return *worker;
      }
    }
    __builtin_trap();
  }
  PerfCounters counters_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// A container may forbid the system call.
std::optional<std::string> why_not_here() {
  const auto counter = PerfCounters(kFaults).count(0);
  return counter ? std::nullopt : std::optional(counter.error().message);
}

struct Implementation {
  std::string name;
  bool is_real = false;
  std::function<std::unique_ptr<Threads>()> make;
};

class ThreadCountersContract : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    if (const auto why = GetParam().is_real ? why_not_here() : std::nullopt) {
      GTEST_SKIP() << *why;
    }
    threads_ = GetParam().make();
  }
  std::unique_ptr<stats::ThreadCounter> count(std::int64_t tid) {
    auto counter = threads_->counters().count(tid);
    EXPECT_TRUE(counter) << counter.error().message;
    return counter ? std::move(*counter) : nullptr;
  }

  std::unique_ptr<Threads> threads_;
};

TEST_P(ThreadCountersContract, CountsWhatAThreadDoesFromThenOn) {
  const std::int64_t tid = threads_->start();
  threads_->work(tid, 5000);
  const auto counter = count(tid);
  threads_->work(tid, 1000);
  const auto now = counter->read();
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_GE(now->reads, 1000);
  EXPECT_LT(now->reads, 5000);
  EXPECT_GT(now->ran_ns, 0);
  EXPECT_GT(now->counted_ns, 0);
  EXPECT_LE(now->counted_ns, now->ran_ns);
  threads_->work(tid, 1000);
  EXPECT_GE(counter->read()->reads, 2000);
}

TEST_P(ThreadCountersContract, WhatOthersDoIsNotCounted) {
  const std::int64_t rests = threads_->start();
  const std::int64_t works = threads_->start();
  const auto counter = count(rests);
  const auto other = count(works);
  threads_->work(works, 1000);
  EXPECT_LT(counter->read()->reads, 1000);
  EXPECT_GE(other->read()->reads, 1000);
}

TEST_P(ThreadCountersContract, TwoCountersOfAThreadDoNotDisturbEachOther) {
  const std::int64_t tid = threads_->start();
  const auto first = count(tid);
  threads_->work(tid, 1000);
  auto second = count(tid);
  threads_->work(tid, 1000);
  const std::int64_t since = second->read()->reads;
  second.reset();
  EXPECT_GE(since, 1000);
  EXPECT_GE(first->read()->reads, since + 1000);
}

TEST_P(ThreadCountersContract, AThreadThatEndedKeepsItsCount) {
  const std::int64_t tid = threads_->start();
  const auto counter = count(tid);
  threads_->work(tid, 1000);
  threads_->end(tid);
  const auto now = counter->read();
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_GE(now->reads, 1000);
}

TEST_P(ThreadCountersContract, AThreadThatIsNotThereHasVanished) {
  const auto counter = threads_->counters().count(0x3fffffff);  // above PID_MAX_LIMIT
  ASSERT_FALSE(counter);
  EXPECT_EQ(counter.error().code, ErrorCode::kVanished);
}

INSTANTIATE_TEST_SUITE_P(
    All, ThreadCountersContract,
    testing::Values(Implementation{"Fake", false, [] { return std::make_unique<FakeThreads>(); }},
                    Implementation{"Perf", true,
                                   [] { return std::make_unique<RealThreads>(kFaults); }},
                    Implementation{"PerfWithCycles", true,
                                   [] { return std::make_unique<RealThreads>(kFaultsAndClock); }}),
    [](const auto& about) { return about.param.name; });

class PerfCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_not_here()) {
      GTEST_SKIP() << *why;
    }
  }
  static auto descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  }
};

TEST_F(PerfCountersTest, CyclesAreCountedAtTheSameTimes) {
  Worker worker;
  const auto counter = PerfCounters(kFaultsAndClock).count(worker.tid());
  ASSERT_TRUE(counter) << counter.error().message;
  worker.work(1000);
  const auto now = (*counter)->read();
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_GE(now->stalled_cycles, now->reads);  // faults, minor ones and all
  EXPECT_GT(now->cycles, 0);                   // nanoseconds of run time
  EXPECT_LE(now->cycles, now->ran_ns);
}

TEST_F(PerfCountersTest, ACounterClosesItsDescriptors) {
  const auto before = descriptors();
  {
    const auto counter = PerfCounters(kFaultsAndClock).count(0);
    ASSERT_TRUE(counter);
    EXPECT_EQ(descriptors(), before + 3);
  }
  EXPECT_EQ(descriptors(), before);
}

TEST_F(PerfCountersTest, AnEventThatIsNotThereIsNoCounterAndNoDescriptor) {
  const auto before = descriptors();
  const PerfEvents events{.reads = {PERF_TYPE_SOFTWARE, 1'000'000}};
  EXPECT_FALSE(PerfCounters(events).count(0));
  EXPECT_EQ(descriptors(), before);
}

TEST_F(PerfCountersTest, ReadsFromMemoryAreCountedWhereCpusCountThem) {
  const auto root = files::Directory::open("/");
  ASSERT_TRUE(root);
  const auto events = stats::find_perf_events(*root);
  if (!events) {
    GTEST_SKIP() << events.error().message;
  }
  Worker worker;
  const auto counter = PerfCounters(*events).count(worker.tid());
  ASSERT_TRUE(counter) << counter.error().message;
  worker.work(100'000);  // 400 MB, more than caches hold
  const auto now = (*counter)->read();
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_GT(now->reads, 0);
}

}  // namespace
}  // namespace vmnuma::tests
