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
using placement::CpuId;
using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};

class ExecutorWorkerTest : public testing::Test {
 protected:
  ExecutorWorkerTest()
      : worker_(domains_, memory_, journal_, migration::Limits{}, [](auto&&, auto&&) {}) {}
  ~ExecutorWorkerTest() override { worker_.stop(kLong); }

  FakeDomains domains_{{CpuId{0}, CpuId{1}}, {placement::NodeId{0}}};
  FakeMemory memory_{{}};
  FakeJournal journal_;
  ExecutorWorker worker_;
};

TEST_F(ExecutorWorkerTest, FinishesAtOnceIfThereIsNothingToDo) {
  EXPECT_TRUE(worker_.finish(kLong));
}

TEST_F(ExecutorWorkerTest, FinishesWhatWasSubmitted) {
  migration::Order order;
  order.action = 1;
  order.changes.push_back({});
  order.changes[0].process = {1, 1};  // of nobody: the order is dropped
  worker_.submit({order});
  EXPECT_TRUE(worker_.finish(kLong));
}

TEST_F(ExecutorWorkerTest, GivesUpAfterTheGivenTime) {
  worker_.pause(true);
  migration::Order order;
  order.action = 1;
  order.changes.push_back({});
  worker_.submit({order});
  EXPECT_FALSE(worker_.finish(milliseconds(1)));
}

}  // namespace
}  // namespace vmnuma::tests
