// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/running_vms.h"

#include <chrono>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

using balancer::EventLog;
using balancer::EventsRequest;
using balancer::EventView;
using balancer::HostTime;
using balancer::RunningVms;
using balancer::Severity;
using balancer::TaskBoard;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Listed = Result<std::vector<VmDescription>>;

/// Tells of VMs as a test wants it, and of nothing else.
class ListingHost final : public balancer::Host {
 public:
  [[nodiscard]] std::string name() const override { return {}; }
  [[nodiscard]] std::string host_name() const override { return {}; }
  [[nodiscard]] const Topology& topology() const override { return topology_; }
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] HostTime time() const override { return {}; }
  void watch(std::function<void()> /*on_change*/) override {}
  [[nodiscard]] std::vector<stats::HostLack> lacks() const override { return {}; }
  void mark_dirty(const VmId& /*vm*/) override {}
  [[nodiscard]] balancer::HostReading read(const stats::SampleRequest& /*request*/) override {
    return {};
  }
  [[nodiscard]] Listed refresh() override {
    ++asked;
    if (hold != nullptr) {
      hold->get_future().wait();
      hold = nullptr;
    }
    Listed next = std::move(answers.front());
    answers.pop_front();
    return next;
  }
  [[nodiscard]] std::vector<VmId> unreadable() const override { return unread; }
  [[nodiscard]] std::vector<std::string> take_notices() override {
    return std::exchange(notices, {});
  }
  [[nodiscard]] Result<std::string> play(const balancer::PlayCommand& /*command*/) override {
    return std::string();
  }
  [[nodiscard]] balancer::FoundLatencies find_latencies(
      const std::string& /*state_dir*/, const Topology& /*topology*/,
      const std::vector<stats::MeasuredLatency>& /*known*/,
      const std::atomic<bool>& /*stop*/) override {
    return {};
  }
  [[nodiscard]] migration::DomainControl& control() override { VMNUMA_CHECK(false); }
  [[nodiscard]] migration::PageMover& mover() override { VMNUMA_CHECK(false); }
  [[nodiscard]] balancer::UnitControl& units() override { VMNUMA_CHECK(false); }

  // The worker's thread's while it is asked.
  std::deque<Listed> answers;
  std::vector<VmId> unread;
  std::vector<std::string> notices;
  std::promise<void>* hold = nullptr;  ///< the next answer waits for it
  int asked = 0;

 private:
  Topology topology_;
  std::string root_;
};

VmDescription vm(std::string name) {
  VmDescription description;
  description.id.uuid.back() = static_cast<std::uint8_t>(name.front());
  description.name = std::move(name);
  return description;
}

class RunningVmsTest : public testing::Test {
 protected:
  /// Lets the service take the next answer.
  RunningVms::Report take() {
    reported_.reset();
    while (!reported_) {
      service_.run_one();
    }
    return *reported_;
  }
  [[nodiscard]] std::vector<std::string> said() const {
    std::vector<std::string> said;
    for (const EventView& event : log_.recent().answer(EventsRequest{}).events) {
      said.push_back(event.message);
    }
    return said;
  }

  TaskBoard board_;
  boost::asio::io_context service_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_{
      service_.get_executor()};
  EventLog log_{Severity::kError, HostTime()};
  ListingHost host_;
  std::optional<RunningVms::Report> reported_;
  RunningVms vms_{board_, service_, host_, log_, [this](const auto& told) { reported_ = told; }};
};

TEST_F(RunningVmsTest, TellsOfVmsThatStartedAndSaysWhichRunAndHaveEnded) {
  host_.answers = {std::vector{vm("a")}, std::vector{vm("b")}};
  vms_.refresh();
  EXPECT_THAT(take().started, ElementsAre(vm("a").id));
  vms_.refresh();
  EXPECT_THAT(take().started, ElementsAre(vm("b").id));
  EXPECT_THAT(vms_.now(), SizeIs(1));
  EXPECT_THAT(said(), ElementsAre("VM 'a' runs", "VM 'a' has ended", "VM 'b' runs"));
}

TEST_F(RunningVmsTest, TellsOfVmsThatCannotBeReadAsOfTheLastAnswer) {
  host_.unread = {vm("b").id};
  host_.answers = {std::vector{vm("a")}, std::vector{vm("a"), vm("b")}};
  vms_.refresh();
  (void)take();
  EXPECT_THAT(vms_.unreadable(), ElementsAre(vm("b").id));
  host_.unread.clear();
  vms_.refresh();
  (void)take();
  EXPECT_THAT(vms_.unreadable(), IsEmpty());
}

TEST_F(RunningVmsTest, AVmThatWasStartedAnewBetweenTwoAnswersHasEndedAndStarted) {
  VmDescription first = vm("a");
  first.domain_id = 1;
  VmDescription again = first;
  again.domain_id = 2;
  host_.answers = {std::vector{first}, std::vector{again}, std::vector{again}};
  vms_.refresh();
  (void)take();
  vms_.refresh();
  EXPECT_THAT(take().started, ElementsAre(first.id));
  EXPECT_THAT(said(), ElementsAre("VM 'a' runs", "VM 'a' has ended", "VM 'a' runs"));
  vms_.refresh();
  EXPECT_THAT(take().started, IsEmpty());
}

TEST_F(RunningVmsTest, WithoutAnAnswerTheVmsThatItToldOfLastStayKnown) {
  host_.answers = {std::vector{vm("a")}, failure(ErrorCode::kUnavailable, "gone"),
                   std::vector{vm("a")}};
  vms_.refresh();
  (void)take();
  vms_.refresh();
  const RunningVms::Report told = take();
  EXPECT_EQ(told.problem, "gone");
  EXPECT_THAT(told.started, IsEmpty());
  EXPECT_THAT(vms_.now(), SizeIs(1));
  vms_.refresh();
  EXPECT_THAT(take().started, IsEmpty());
}

TEST_F(RunningVmsTest, IsAskedAgainWhenItFailedAndThatIsDueAndNotOtherwise) {
  const auto later = std::chrono::steady_clock::now() + std::chrono::hours(1);
  host_.answers = {failure(ErrorCode::kUnavailable, "gone"), std::vector{vm("a")}};
  vms_.retry_if_due(later);  // it was not asked before
  vms_.refresh();
  (void)take();
  vms_.retry_if_due({});  // too early
  EXPECT_EQ(host_.asked, 1);
  vms_.retry_if_due(later);
  EXPECT_THAT(take().started, SizeIs(1));
  vms_.retry_if_due(std::chrono::steady_clock::now());  // it has answered
  EXPECT_EQ(host_.asked, 2);
}

TEST_F(RunningVmsTest, IsAskedOnceAMinuteThoughNothingWasTold) {
  host_.answers = {std::vector{vm("a")}, std::vector{vm("a"), vm("b")}};
  vms_.refresh();
  (void)take();
  const auto now = std::chrono::steady_clock::now();
  vms_.retry_if_due(now);
  EXPECT_EQ(host_.asked, 1);
  vms_.retry_if_due(now + std::chrono::seconds(61));
  EXPECT_THAT(take().started, ElementsAre(vm("b").id));
}

TEST_F(RunningVmsTest, AQueryThatTheWorkerHadNoRoomForIsMadeLater) {
  std::promise<void> go_on;
  ASSERT_TRUE(vms_.post("blocking it", [&go_on] { go_on.get_future().wait(); }));
  while (vms_.post("filling it", [] {})) {
  }
  host_.answers = {std::vector{vm("a")}};
  vms_.refresh();
  go_on.set_value();
  while (!reported_) {
    vms_.retry_if_due({});
    service_.poll();
  }
  EXPECT_THAT(reported_->started, ElementsAre(vm("a").id));
}

TEST_F(RunningVmsTest, WhatChangesWhileItIsAskedIsAskedForOnceMore) {
  std::promise<void> go_on;
  host_.hold = &go_on;
  host_.answers = {std::vector{vm("a")}, std::vector{vm("a"), vm("b")}};
  vms_.refresh();
  vms_.refresh();
  vms_.refresh();
  go_on.set_value();
  EXPECT_THAT(take().started, ElementsAre(vm("a").id));
  EXPECT_THAT(take().started, ElementsAre(vm("b").id));
  EXPECT_EQ(host_.asked, 2);
}

TEST_F(RunningVmsTest, NoticesOfTheHostAreSaid) {
  host_.answers = {std::vector<VmDescription>{}};
  host_.notices = {"a VM is left alone"};
  vms_.refresh();
  (void)take();
  EXPECT_THAT(said(), ElementsAre("a VM is left alone"));
}

}  // namespace
}  // namespace vmnuma::tests
