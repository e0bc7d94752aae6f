// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/executor_worker.h"

#include <gtest/gtest.h>

#include "migration/limits.h"
#include "tests/support/fake_domains.h"
#include "tests/support/fake_journal.h"
#include "tests/support/fake_memory.h"

namespace vmnuma::tests {
namespace {

using balancer::ExecutorWorker;
using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};

class ExecutorWorkerTest : public testing::Test {
 protected:
  ExecutorWorkerTest()
      : worker_(board_, domains_, memory_, journal_, migration::Limits{}, [](auto&&, auto&&) {}) {}
  ~ExecutorWorkerTest() override { EXPECT_TRUE(worker_.stop(kLong)); }

  FakeDomains domains_{{CpuId{0}, CpuId{1}}, {NodeId{0}}};
  FakeMemory memory_{{}};
  FakeJournal journal_;
  balancer::TaskBoard board_;
  ExecutorWorker worker_;
};

TEST_F(ExecutorWorkerTest, FinishesAtOnceIfThereIsNothingToDo) {
  EXPECT_TRUE(worker_.finish({kLong, kLong}));
}

TEST_F(ExecutorWorkerTest, FinishesWhatWasSubmitted) {
  migration::Order order;
  order.action = 1;
  order.changes.push_back({});
  order.changes[0].process = {1, 1};  // does not exist: the order is dropped
  worker_.submit({order});
  EXPECT_TRUE(worker_.finish({kLong, kLong}));
}

TEST_F(ExecutorWorkerTest, GivesUpAfterTheGivenTime) {
  worker_.pause(true);
  migration::Order order;
  order.action = 1;
  order.changes.push_back({});
  worker_.submit({order});
  EXPECT_FALSE(worker_.finish({milliseconds(1), kLong}));
}

/// One that cannot be read at first.
class BusyJournal : public FakeJournal {
 public:
  [[nodiscard]] Result<void> open(const migration::Order& order) override {
    opened_after_reads.push_back(reads);
    return FakeJournal::open(order);
  }
  [[nodiscard]] Result<std::vector<migration::OpenAction>> open_actions() override {
    if (++reads < 3) {
      return failure(ErrorCode::kBusy, "the history is in use");
    }
    return FakeJournal::open_actions();
  }

  int reads = 0;
  std::vector<int> opened_after_reads;
};

TEST(BusyJournalTest, OrdersWaitUntilWhatWasLeftOpenIsKnown) {
  FakeDomains domains{{CpuId{0}, CpuId{1}}, {NodeId{0}}};
  FakeMemory memory{{}};
  BusyJournal journal;
  balancer::TaskBoard board;
  ExecutorWorker worker(
      board, domains, memory, journal, migration::Limits{}, [](auto&&, auto&&) {},
      balancer::HostTime(60));
  worker.recover();
  migration::Order order;
  order.action = 1;
  order.changes.push_back({});
  worker.submit({order});
  EXPECT_TRUE(worker.finish({kLong, kLong}));
  EXPECT_TRUE(worker.stop(kLong));
  EXPECT_EQ(journal.opened_after_reads, std::vector<int>{3});
}

/// Of a disk that hangs until it is told to go on.
class HangingJournal final : public migration::Journal {
 public:
  [[nodiscard]] Result<void> open(const migration::Order&) override {
    hangs.set_value();
    go_on.get_future().wait();
    return failure(ErrorCode::kIo, "the disk was gone");
  }
  [[nodiscard]] Result<void> begin_step(std::int64_t, std::int32_t, std::string_view) override {
    return {};
  }
  [[nodiscard]] Result<void> end_step(std::int64_t, std::int32_t, std::string_view) override {
    return {};
  }
  [[nodiscard]] Result<void> close(std::int64_t, migration::ActionState,
                                   std::string_view) override {
    return {};
  }
  [[nodiscard]] Result<std::vector<migration::OpenAction>> open_actions() override {
    return std::vector<migration::OpenAction>{};
  }

  std::promise<void> hangs;
  std::promise<void> go_on;
};

TEST(HangingExecutorTest, NoCallerWaitsLongerThanItWants) {
  FakeDomains domains{{CpuId{0}, CpuId{1}}, {NodeId{0}}};
  FakeMemory memory{{}};
  HangingJournal journal;
  balancer::TaskBoard board;
  ExecutorWorker worker(board, domains, memory, journal, migration::Limits{},
                        [](auto&&, auto&&) {});
  migration::Order order;
  order.action = 1;
  order.changes.push_back({});
  worker.submit({order});
  journal.hangs.get_future().wait();
  EXPECT_FALSE(worker.finish({kLong, milliseconds(1)}));  // one step that takes too long is enough
  EXPECT_FALSE(worker.stop(milliseconds(1)));
  journal.go_on.set_value();
}

}  // namespace
}  // namespace vmnuma::tests
