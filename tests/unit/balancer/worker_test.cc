// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/worker.h"

#include <future>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

using balancer::Worker;

TEST(WorkerTest, RunsTasksInTheOrderInWhichTheyWerePosted) {
  std::vector<int> done;
  Worker worker("test", 100);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(worker.post([&done, i] { done.push_back(i); }));
  }
  worker.drain();
  EXPECT_THAT(done, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(WorkerTest, RefusesWhatDoesNotFitItsQueue) {
  std::promise<void> go_on;  // these outlive the worker, whose task uses them
  std::promise<void> started;
  Worker worker("test", 2);
  ASSERT_TRUE(worker.post([&] {
    started.set_value();
    go_on.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(worker.post([] {}));
  EXPECT_TRUE(worker.post([] {}));
  EXPECT_FALSE(worker.post([] {}));
  go_on.set_value();
}

TEST(WorkerTest, TakesNothingAfterItWasDrained) {
  Worker worker("test", 2);
  worker.drain();
  EXPECT_FALSE(worker.post([] {}));
}

}  // namespace
}  // namespace vmnuma::tests
