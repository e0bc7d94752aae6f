// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/worker.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace vmnuma::tests {
namespace {

using balancer::Patience;
using balancer::TaskBoard;
using balancer::Worker;

constexpr Patience kLongPatience{std::chrono::minutes(1), std::chrono::minutes(1)};

class WorkerTest : public testing::Test {
 protected:
  TaskBoard board_;
};

TEST_F(WorkerTest, RunsTasksInTheOrderInWhichTheyWerePosted) {
  std::vector<int> done;
  Worker worker(board_, "test", 100, kLongPatience.all);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(worker.post("testing", [&done, i] { done.push_back(i); }));
  }
  EXPECT_TRUE(worker.drain(kLongPatience));
  EXPECT_THAT(done, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(WorkerTest, RefusesWhatDoesNotFitItsQueue) {
  std::promise<void> go_on;  // these outlive the worker, whose task uses them
  std::promise<void> started;
  Worker worker(board_, "test", 2, kLongPatience.all);
  ASSERT_TRUE(worker.post("testing", [&] {
    started.set_value();
    go_on.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(worker.post("testing", [] {}));
  EXPECT_TRUE(worker.post("testing", [] {}));
  EXPECT_FALSE(worker.post("testing", [] {}));
  go_on.set_value();
}

TEST_F(WorkerTest, TakesNothingAfterItWasDrained) {
  Worker worker(board_, "test", 2, kLongPatience.all);
  EXPECT_TRUE(worker.drain(kLongPatience));
  EXPECT_FALSE(worker.post("testing", [] {}));
}

TEST_F(WorkerTest, IsOnTheBoardWhileATaskRuns) {
  std::promise<void> go_on;
  std::promise<void> started;
  Worker worker(board_, "test", 2, std::chrono::seconds(10));
  EXPECT_THAT(board_.busy(), testing::IsEmpty());
  ASSERT_TRUE(worker.post("waiting for the test", [&] {
    started.set_value();
    go_on.get_future().wait();
  }));
  started.get_future().wait();
  const std::vector<TaskBoard::BusyPlace> busy = board_.busy();
  ASSERT_THAT(busy, testing::SizeIs(1));
  EXPECT_EQ(busy[0].name, "test");
  EXPECT_EQ(busy[0].task.doing, "waiting for the test");
  EXPECT_THAT(board_.overdue(busy[0].task.since + std::chrono::seconds(10)), testing::IsEmpty());
  EXPECT_THAT(board_.overdue(busy[0].task.since + std::chrono::milliseconds(10'001)),
              testing::SizeIs(1));
  go_on.set_value();
  EXPECT_TRUE(worker.drain(kLongPatience));
  EXPECT_THAT(board_.busy(), testing::IsEmpty());
}

TEST_F(WorkerTest, ATaskWithinATaskHasItsOwnBeginning) {
  std::vector<std::string> seen;
  const auto see = [&] { seen.push_back(board_.busy().at(0).task.doing); };
  Worker worker(board_, "test", 2, kLongPatience.all);
  ASSERT_TRUE(worker.post("the whole", [&] {
    worker.run("a part", see);
    see();
  }));
  EXPECT_TRUE(worker.drain(kLongPatience));
  EXPECT_THAT(seen, testing::ElementsAre("a part", "the whole"));
}

TEST_F(WorkerTest, ACallerThatDrainsATaskThatHangsGetsTheThreadBack) {
  std::promise<void> go_on;
  std::promise<void> started;
  Worker worker(board_, "test", 2, kLongPatience.all);
  ASSERT_TRUE(worker.post("hanging", [&] {
    started.set_value();
    go_on.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_FALSE(worker.drain({std::chrono::milliseconds(1), kLongPatience.one_task}));
  go_on.set_value();
}

TEST_F(WorkerTest, OneTaskThatHangsIsNotWaitedForAsLongAsForMany) {
  std::promise<void> go_on;
  std::promise<void> started;
  Worker worker(board_, "test", 2, kLongPatience.all);
  ASSERT_TRUE(worker.post("hanging", [&] {
    started.set_value();
    go_on.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_FALSE(worker.drain({kLongPatience.all, std::chrono::milliseconds(1)}));
  go_on.set_value();
}

TEST(TaskBoardTest, TellsTheFileThatAThreadWaitsFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string name =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(ends[0])).string();
  std::atomic<pid_t> thread = 0;
  std::thread reader([&] {
    thread = ::gettid();
    char c = 0;
    (void)::read(ends[0], &c, 1);
  });
  while (thread == 0 || (balancer::file_waited_for(thread).empty())) {
    std::this_thread::yield();  // until it waits
  }
  EXPECT_EQ(balancer::file_waited_for(thread), name);
  (void)::close(ends[1]);
  reader.join();
  (void)::close(ends[0]);
}

}  // namespace
}  // namespace vmnuma::tests
