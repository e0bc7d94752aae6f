// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_worker.h"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::EventLog;
using balancer::EventsRequest;
using balancer::HistoryWorker;
using balancer::HostTime;
using balancer::Severity;
using balancer::TaskBoard;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr balancer::Patience kUntilDone{std::chrono::minutes(1), std::chrono::minutes(1)};

class HistoryWorkerTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<HistoryWorker> worker(stats::History* history) {
    return std::make_unique<HistoryWorker>(
        board_, history, log_, [this](std::string problem) { problems_.push_back(problem); });
  }
  [[nodiscard]] std::unique_ptr<stats::History> history() const {
    return stats::History::open({directory_.path() + "/history.sqlite"}).value();
  }

  TempDirectory directory_;
  TaskBoard board_;
  EventLog log_{Severity::kError, HostTime()};
  std::vector<std::string> problems_;  // the worker's thread's until it is drained
};

TEST_F(HistoryWorkerTest, WithoutAHistoryNothingIsWrittenAndTheDisksOtherWorkIsDone) {
  auto without = worker(nullptr);
  EXPECT_FALSE(without->has_history());
  without->write([](stats::History&) -> Result<void> { return {}; });
  bool is_done = false;
  EXPECT_TRUE(without->post("testing", [&] { is_done = true; }));
  EXPECT_TRUE(without->drain(kUntilDone));
  EXPECT_TRUE(is_done);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(HistoryWorkerTest, EveryWritingTellsWhetherItFailed) {
  const auto kept = history();
  auto with = worker(kept.get());
  with->write([](stats::History&) -> Result<void> { return {}; });
  with->write(
      [](stats::History&) -> Result<void> { return failure(ErrorCode::kNoSpace, "disk full"); });
  EXPECT_TRUE(with->drain(kUntilDone));
  EXPECT_THAT(problems_, ElementsAre("", "disk full"));
}

TEST_F(HistoryWorkerTest, ReadsAfterWhatWasWrittenBefore) {
  const auto kept = history();
  auto with = worker(kept.get());
  std::vector<std::string> done;
  with->write([&](stats::History&) -> Result<void> {
    done.emplace_back("written");
    return {};
  });
  EXPECT_TRUE(with->read([&](stats::History&) { done.emplace_back("read"); }));
  EXPECT_TRUE(with->drain(kUntilDone));
  EXPECT_THAT(done, ElementsAre("written", "read"));
}

TEST_F(HistoryWorkerTest, ADiskThatIsTooSlowCostsHistoryWhichIsSaidOnce) {
  const auto kept = history();
  std::promise<void> go_on;  // outlives the worker, whose task uses it
  auto with = worker(kept.get());
  ASSERT_TRUE(with->post("testing", [&] { go_on.get_future().wait(); }));
  while (with->post("testing", [] {})) {
  }
  with->write([](stats::History&) -> Result<void> { return {}; });
  with->write([](stats::History&) -> Result<void> { return {}; });
  const auto events = log_.recent().answer(EventsRequest{}).events;
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events.front().message, HasSubstr("takes too long"));
  go_on.set_value();
}

}  // namespace
}  // namespace vmnuma::tests
