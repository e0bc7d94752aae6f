// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/questions.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/protocol/response.h"
#include "tests/support/fake_host.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::Controller;
using balancer::Peer;
using balancer::Questions;
using balancer::Request;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Peer kAdministrator{0, true};
constexpr Peer kMember{1001, false};
constexpr Peer kOther{1002, false};

class QuestionsTest : public testing::Test {
 protected:
  void SetUp() override {
    host_.start(small_vm(1, "vm1", 2), 0, 100);
    (void)host_.report_domains();
    for (int epoch = 0; epoch < 3; ++epoch) {
      host_.carry_out(host_.epoch());
    }
  }
  void ask(std::int64_t token, const Peer& peer, balancer::Command command) {
    questions_.ask(token, peer, {token, std::move(command)});
  }
  /// Until so many answers are there.
  void run(std::size_t answers) {
    const auto keep_waiting = boost::asio::make_work_guard(context_);
    while (lines_.size() < answers) {
      context_.run_one();
    }
  }
  [[nodiscard]] std::vector<std::int64_t> order() const {
    std::vector<std::int64_t> tokens;
    for (const auto& [token, line] : lines_) {
      tokens.push_back(token);
    }
    return tokens;
  }

  boost::asio::io_context context_;
  HostStory host_{2, balancer::Mode::kActive};
  std::vector<std::pair<std::int64_t, std::string>> lines_;
  int copies_ = 0;
  balancer::TaskBoard board_;
  FakeHost host_files_;
  Questions questions_{
      board_,
      "test",
      context_,
      [this] {
        ++copies_;
        return std::make_shared<const Controller>(host_.controller());
      },
      [this](std::int64_t token, std::string line) { lines_.emplace_back(token, std::move(line)); },
      host_files_.path()};
};

TEST_F(QuestionsTest, AnswersAsTheControllerItselfDoes) {
  const std::vector<balancer::Command> questions{
      balancer::StatusRequest{},       balancer::HostRequest{},
      balancer::MemoryRequest{},       balancer::StatsRequest{"numa-clients"},
      balancer::ExplainRequest{"vm1"}, balancer::PlanRequest{},
      balancer::OptionsListRequest{},  balancer::OptionsGetRequest{"Numa.MigThreshold"},
      balancer::PolicyRequest{"vm1"},  balancer::WhatIfRequest{.remove = {"vm1"}},
      balancer::ExplainRequest{"vm9"}};
  std::vector<std::string> expected;
  for (const balancer::Command& question : questions) {
    const auto number = static_cast<std::int64_t>(expected.size());
    expected.push_back(encode_response(
        number,
        host_.controller().on(balancer::CommandReceived{7, question}).replies.at(0).answer));
    ask(number, kMember, question);
  }
  run(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    EXPECT_EQ(lines_[i], std::pair(static_cast<std::int64_t>(i), expected[i]));
  }
}

TEST_F(QuestionsTest, AddsToAnExplanationWhereTheInterruptsOfTheVmsDevicesFire) {
  VmDescription vm = small_vm(2, "vm2", 2);
  vm.pci_devices = {{"0000:3b:00.0", NodeId{1}}};
  host_.start(vm, 1, 100);
  (void)host_.report_domains();
  for (int epoch = 0; epoch < 3; ++epoch) {
    host_.carry_out(host_.epoch());
  }
  host_files_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_files_.write("sys/bus/pci/devices/0000:3b:00.0/msi_irqs/57", "msix\n");
  host_files_.write("sys/kernel/irq/57/actions", "vfio-msix[0](0000:3b:00.0)\n");
  host_files_.write("proc/irq/57/effective_affinity_list", "1\n");
  ask(1, kMember, balancer::ExplainRequest{"vm2"});
  run(1);
  EXPECT_THAT(lines_[0].second, HasSubstr(R"("kind":"PCI device","name":"0000:3b:00.0","node":1)"));
  EXPECT_THAT(lines_[0].second,
              HasSubstr("interrupt 57 (vfio-msix[0](0000:3b:00.0)) fires on node 0 (CPUs 1), but "
                        "the VM lives on node 1"));
}

TEST_F(QuestionsTest, TellsTheWholeState) {
  ask(1, kMember, balancer::StateRequest{});
  run(1);
  EXPECT_THAT(lines_[0].second, HasSubstr("\"ok\":true"));
}

TEST_F(QuestionsTest, AnswersFromTheEpochInWhichTheTurnComes) {
  ask(1, kMember, balancer::StatusRequest{});
  ask(2, kMember, balancer::StatusRequest{});
  host_.carry_out(host_.epoch());
  run(2);
  EXPECT_THAT(lines_[0].second, HasSubstr("\"epoch\":3,"));
  EXPECT_THAT(lines_[1].second, HasSubstr("\"epoch\":4,"));
}

TEST_F(QuestionsTest, UsersTakeTurnsAndAdministratorsGoFirst) {
  ask(1, kMember, balancer::StatusRequest{});  // is being answered already
  ask(2, kMember, balancer::StatusRequest{});
  ask(3, kMember, balancer::StatusRequest{});
  ask(4, kOther, balancer::StatusRequest{});
  ask(5, kOther, balancer::StatusRequest{});
  ask(6, kAdministrator, balancer::StatusRequest{});
  ask(7, kAdministrator, balancer::StatusRequest{});
  run(7);
  EXPECT_THAT(order(), ElementsAre(1, 6, 7, 4, 2, 5, 3));
}

TEST_F(QuestionsTest, MoreThanAsManyAsMayWaitAreBusy) {
  for (std::size_t i = 0; i < Questions::kMostWaiting + 2; ++i) {
    ask(static_cast<std::int64_t>(i), kMember, balancer::StatusRequest{});
  }
  ASSERT_EQ(lines_.size(), 1U);  // one is being answered, the others wait
  EXPECT_THAT(lines_[0].second, HasSubstr("\"busy\""));
  run(Questions::kMostWaiting + 2);
}

}  // namespace
}  // namespace vmnuma::tests
