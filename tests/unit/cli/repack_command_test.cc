// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/unit/cli/movable_host.h"

namespace vmnuma::tools {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RepackCommandTest : public MovableHostTest {
 protected:
  /// Each VM wants all of its node.
  RepackCommandTest() : MovableHostTest(2, 100) {}
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), {"repack", "--seconds", "60"});
    return run_words(words);
  }
};

TEST_F(RepackCommandTest, TakesTheStepsOneByOneAndWaitsForEach) {
  ASSERT_EQ(run({}), kExitOk) << err_.str();
  ASSERT_THAT(ordered_, SizeIs(1));
  ASSERT_THAT(ordered_.front().moves, SizeIs(1));
  EXPECT_EQ(ordered_.front().moves.front().from, NodeId{0});
  EXPECT_EQ(ordered_.front().moves.front().to, NodeId{1});
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

TEST_F(RepackCommandTest, MovesNoVmForLessThanIsAskedFor) {
  ASSERT_EQ(run({"--least-gain", "600"}), kExitOk) << err_.str();  // a half can be saved
  EXPECT_THAT(ordered_, IsEmpty());
  EXPECT_THAT(out_.str(), HasSubstr("nothing is moved"));
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
