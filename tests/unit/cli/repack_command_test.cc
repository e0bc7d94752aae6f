// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "balancer/record/frame.h"
#include "tests/support/fake_daemon.h"
#include "tests/unit/balancer/host_story.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::Command;
using balancer::DoneView;
using balancer::HistoryRequest;
using balancer::HistoryView;
using balancer::MoveTogetherRequest;
using balancer::StateRequest;
using balancer::StateView;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tests::FakeDaemon;

class RepackCommandTest : public testing::Test {
 protected:
  /// Two VMs on node 0, each wanting all of it, and an empty node 1.
  RepackCommandTest() : story_(2, balancer::Mode::kObserve) {
    for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
      story_.start(tests::small_vm(number, number == 1 ? "one" : "two", 2), 0, 100);
      story_.pin(number, tests::node_cpus(0));
    }
    (void)story_.tell_domains();
    for (int epoch = 0; epoch < 10; ++epoch) {
      (void)story_.epoch();
    }
  }
  int run(const std::vector<std::string>& words) {
    FakeDaemon daemon(FakeDaemon::answering([&](const Command& command) -> Result<Answer> {
      if (std::holds_alternative<StateRequest>(command)) {
        return Answer(StateView{balancer::header_line(0, story_.controller(), nullptr)});
      }
      if (const auto* moves = std::get_if<MoveTogetherRequest>(&command)) {
        ordered_.push_back(*moves);
        return answer_;
      }
      EXPECT_TRUE(std::holds_alternative<HistoryRequest>(command));
      HistoryView view;
      view.moves.emplace_back();
      view.moves.back().action = 7;
      view.moves.back().state = state_;
      view.moves.back().detail = "moved 64.0 MiB";
      return Answer(view);
    }));
    std::vector<std::string> arguments{"--socket", daemon.socket_path(), "repack", "--seconds",
                                       "60"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    EXPECT_TRUE(invocation) << invocation.error().text;
    Surroundings surroundings{out_, err_, false, [](std::chrono::milliseconds) { return false; },
                              std::chrono::milliseconds(60'000)};
    return tools::run(*invocation, surroundings);
  }

  tests::HostStory story_;
  Result<Answer> answer_ = Answer(DoneView{"moving", 7});
  std::string state_ = "done";
  std::vector<MoveTogetherRequest> ordered_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(RepackCommandTest, TakesTheStepsOneByOneAndWaitsForEach) {
  ASSERT_EQ(run({}), kExitOk) << err_.str();
  ASSERT_THAT(ordered_, SizeIs(1));
  ASSERT_THAT(ordered_.front().moves, SizeIs(1));
  EXPECT_EQ(ordered_.front().moves.front().from, placement::NodeId{0});
  EXPECT_EQ(ordered_.front().moves.front().to, placement::NodeId{1});
  EXPECT_THAT(out_.str(), HasSubstr("moved 64.0 MiB"));
}

TEST_F(RepackCommandTest, TellsProgramsWhatBecameOfIt) {
  ASSERT_EQ(run({"--json"}), kExitOk) << err_.str();
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["lost_before_ms"], 4000);
  EXPECT_EQ(json["steps"], 1);
  EXPECT_EQ(json["steps_done"], 1);
  EXPECT_EQ(json["clients_moved"], 1);
  EXPECT_EQ(json["stopped_because"], "");
}

TEST_F(RepackCommandTest, MovesNobodyForLessThanIsAskedFor) {
  ASSERT_EQ(run({"--least-gain", "600"}), kExitOk) << err_.str();  // a half can be saved
  EXPECT_THAT(ordered_, IsEmpty());
  EXPECT_THAT(out_.str(), HasSubstr("nothing moves"));
}

TEST_F(RepackCommandTest, StopsAtTheFirstStepThatIsRefused) {
  answer_ = failure(ErrorCode::kBusy, "VM 'one' does not live on node 0 any more");
  EXPECT_EQ(run({}), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("does not live on node 0 any more"));
  EXPECT_THAT(out_.str(), HasSubstr("0 of 1 steps are done"));
}

TEST_F(RepackCommandTest, StopsAtTheFirstStepThatWasUndone) {
  state_ = "undone";
  EXPECT_EQ(run({"--json"}), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("action 7 was undone: moved 64.0 MiB"));
  EXPECT_EQ(nlohmann::json::parse(out_.str())["steps_done"], 0);
}

TEST_F(RepackCommandTest, RefusesLimitsThatMakeNoSense) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"repack", "--least-gain", "1001"},
        {"repack", "--at-most", "0"},
        {"repack", "--seconds", "0"},
        {"repack", "--watch"}}) {
    EXPECT_FALSE(parse_arguments(words, 0)) << words.back();
  }
}

}  // namespace
}  // namespace vmnuma::tools
