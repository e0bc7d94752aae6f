// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/optimal_command.h"

#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "balancer/optimal/repack.h"
#include "balancer/record/frame.h"
#include "tests/support/fake_daemon.h"
#include "tests/unit/balancer/host_story.h"
#include "tools/vmnuma/run.h"
#include "tools/vmnuma/text/optimal_text.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::Command;
using balancer::StateRequest;
using balancer::StateView;
using testing::HasSubstr;
using testing::Not;
using tests::FakeDaemon;

/// Two VMs on node 0, each wanting all of it, and an empty node 1.
tests::HostStory crowded_host() {
  tests::HostStory story(2, balancer::Mode::kObserve);
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    story.start(tests::small_vm(number, number == 1 ? "one" : "two", 2), 0, 100);
    story.pin(number, tests::node_cpus(0));
  }
  (void)story.report_domains();
  for (int epoch = 0; epoch < 10; ++epoch) {
    (void)story.epoch();
  }
  return story;
}

class OptimalCommandTest : public testing::Test {
 protected:
  int run(const std::vector<std::string>& words, const Result<Answer>& answer) {
    FakeDaemon daemon(FakeDaemon::answering([&](const Command& command) {
      EXPECT_EQ(command, Command(StateRequest{}));
      return answer;
    }));
    std::vector<std::string> arguments{"--socket", daemon.socket_path(), "plan", "--optimal"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    EXPECT_TRUE(invocation) << invocation.error().text;
    Surroundings surroundings{out_, err_, false, [](std::chrono::milliseconds) { return false; },
                              std::chrono::milliseconds(60'000)};
    return tools::run(*invocation, surroundings);
  }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(OptimalCommandTest, ShowsWhatWouldBeBestAndTheWayThere) {
  tests::HostStory story = crowded_host();
  const StateView state{balancer::header_line(0, story.controller(), nullptr)};
  ASSERT_EQ(run({}, Answer(state)), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("optimum"));
  EXPECT_THAT(out_.str(), HasSubstr("node 0 to 1, 64.0 MiB of memory"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("Note")));
}

TEST_F(OptimalCommandTest, TellsProgramsTheSame) {
  tests::HostStory story = crowded_host();
  const StateView state{balancer::header_line(0, story.controller(), nullptr)};
  ASSERT_EQ(run({"--json", "--seconds", "60", "--gap", "0"}, Answer(state)), kExitOk);
  const auto json = nlohmann::json::parse(out_.str());
  // Two want 2 CPUs each and have 2 together: 2 CPUs are lost, and none with one on each node.
  EXPECT_EQ(json["demand_ms"], 8000);
  EXPECT_EQ(json["now"]["lost_ms"], 4000);
  EXPECT_EQ(json["optimum"]["lost_ms"], 0);
  EXPECT_EQ(json["optimum"]["moves"], 1);
  EXPECT_EQ(json["optimum"]["above_bound_permille"], 0);
  // The bound has the cost of the move in it.
  EXPECT_EQ(json["now"]["above_bound_permille"], 500);
  ASSERT_EQ(json["steps"].size(), 1);
  EXPECT_EQ(json["steps"][0]["relocations"][0]["from"], 0);
  EXPECT_EQ(json["steps"][0]["relocations"][0]["to"], 1);
  EXPECT_EQ(json["steps"][0]["lost_after_ms"], 0);
  EXPECT_EQ(json["trouble"], "");
}

TEST_F(OptimalCommandTest, FallsBackToThePlannerWhereTheSolverFails) {
  tests::HostStory story = crowded_host();
  const auto outlook = story.controller().outlook();
  ASSERT_TRUE(outlook);
  const balancer::Repack repack = balancer::plan_without_solver(
      outlook->snapshot, outlook->options, outlook->circumstances, "it had a bad day");
  EXPECT_FALSE(repack.optimum.bound);
  EXPECT_EQ(repack.optimum.best, repack.planner);
  EXPECT_THAT(text_of(repack, *outlook), HasSubstr("it had a bad day"));
  const auto json = nlohmann::json::parse(json_of(repack, *outlook));
  EXPECT_EQ(json["trouble"], "it had a bad day");
  EXPECT_TRUE(json["bound_ms"].is_null());
  EXPECT_TRUE(json["optimum"]["above_bound_permille"].is_null());
  EXPECT_EQ(json["steps"].size(), 1);
}

TEST_F(OptimalCommandTest, SaysWhatTheDaemonSaid) {
  EXPECT_EQ(run({}, failure(ErrorCode::kBusy, "not yet")), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("not yet"));
  EXPECT_EQ(run({}, Answer(StateView{"nonsense\n"})), kExitUnreachable);
}

TEST_F(OptimalCommandTest, RefusesLimitsThatMakeNoSense) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"plan", "--optimal", "--seconds", "0"},
        {"plan", "--optimal", "--gap", "-1"},
        {"plan", "--optimal", "--memory-mib", "1"},
        {"plan", "--seconds", "5"},
        {"plan", "--optimal", "--watch"}}) {
    EXPECT_FALSE(parse_arguments(words, 0)) << words.back();
  }
}

}  // namespace
}  // namespace vmnuma::tools
