// SPDX-License-Identifier: Apache-2.0
#include "tools/numad/run.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/fake_host.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::Command;
using balancer::SuggestRequest;
using balancer::SuggestView;
using testing::HasSubstr;
using tests::FakeDaemon;

/// The machine that runs the tests may be busy.
constexpr std::chrono::minutes kNoHurry{5};

class NumadRunTest : public testing::Test {
 protected:
  NumadRunTest() {
    host_.set_nodes(tests::regular_nodes(4, 4, 1, kGiB * 16));
    host_.set_node_memory(3, kGiB * 16, kGiB * 15);
    for (const std::int32_t node : {0, 1, 2}) {
      host_.set_node_memory(node, kGiB * 16, kGiB * 4);
    }
  }

  int run(const std::string& socket_path, const std::string& size = "4:2048") {
    const std::vector<std::string> arguments{"--socket", socket_path, "-w", size};
    return run_numad(arguments, {out_, err_, host_.path(), 0, kNoHurry});
  }

  /// What is printed for this answer of the daemon.
  std::string answer_to(FakeDaemon::Reply reply) {
    const FakeDaemon daemon(std::move(reply));
    EXPECT_EQ(run(daemon.socket_path()), kNumadAnswered);
    return out_.str();
  }
  static FakeDaemon::Reply suggesting(const std::vector<NodeId>& nodes) {
    return FakeDaemon::answering([nodes](const Command& command) -> Result<Answer> {
      EXPECT_EQ(std::get<SuggestRequest>(command), (SuggestRequest{4, 2048}));
      return Answer(SuggestView{"web1", "", nodes});
    });
  }

  tests::FakeHost host_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(NumadRunTest, PrintsTheDaemonsNodes) {
  EXPECT_EQ(answer_to(suggesting({{1}})), "1\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(NumadRunTest, PrintsSeveralNodesAsAList) {
  EXPECT_EQ(answer_to(suggesting({{3}, {0}, {1}, {1}})), "0-1,3\n");
}

TEST_F(NumadRunTest, AnEmptyAnswerIsNone) {
  EXPECT_EQ(answer_to(suggesting({})), "3\n");
  EXPECT_THAT(err_.str(), HasSubstr("the daemon's answer names no node; choosing by free memory"));
}

TEST_F(NumadRunTest, NodesThatAreNullAreNone) {
  EXPECT_EQ(answer_to(suggesting({{-1}, {2}})), "3\n");
}

// libvirt would fail the start of the VM.
TEST_F(NumadRunTest, NodesThatTheHostLacksAreNoAnswer) {
  EXPECT_EQ(answer_to(suggesting({{1}, {4}})), "3\n");
  EXPECT_THAT(err_.str(), HasSubstr("names node 4, which is not online here; choosing by free"));
}

TEST_F(NumadRunTest, MessagesOfTheDaemonCannotWriteToTheTerminal) {
  (void)answer_to(FakeDaemon::answering(
      [](const Command&) -> Result<Answer> { return failure(ErrorCode::kBusy, "no\n\x1b[2J"); }));
  EXPECT_THAT(err_.str(), HasSubstr("no\\n\\x1b[2J"));
}

TEST_F(NumadRunTest, ARefusalIsNoAnswer) {
  EXPECT_EQ(answer_to(FakeDaemon::answering([](const Command&) -> Result<Answer> {
              return failure(ErrorCode::kBusy, "nothing has been measured yet");
            })),
            "3\n");
  EXPECT_THAT(err_.str(), HasSubstr("nothing has been measured yet"));
}

TEST_F(NumadRunTest, GarbageIsNoAnswer) {
  for (const char* garbage :
       {"\n", "{}\n", "1\n", "\xff\xfe\n", "{\"version\":1,\"id\":1,\"ok\":true}\n",
        "{\"version\":1,\"id\":1,\"ok\":true,\"result\":{\"nodes\":\"0\"}}\n",
        "{\"version\":1,\"id\":1,\"ok\":true,\"result\":7}\n"}) {
    out_.str("");
    EXPECT_EQ(answer_to([&](const std::string&) { return garbage; }), "3\n") << garbage;
  }
}

TEST_F(NumadRunTest, WithoutADaemonItChoosesItself) {
  EXPECT_EQ(run("/nonexistent/socket"), kNumadAnswered);
  EXPECT_EQ(out_.str(), "3\n");
  EXPECT_THAT(err_.str(), HasSubstr("choosing by free memory instead"));
}

TEST_F(NumadRunTest, AHostItDoesNotUnderstandGivesAllNodes) {
  host_.write("sys/devices/system/cpu/isolated", "nonsense\n");
  EXPECT_EQ(run("/nonexistent/socket"), kNumadAnswered);
  EXPECT_EQ(out_.str(), "0-3\n");
  EXPECT_THAT(err_.str(), HasSubstr("naming all nodes instead"));
}

TEST_F(NumadRunTest, NothingIsPrintedWhereNothingIsKnown) {
  host_.remove("sys/devices/system/node");
  EXPECT_EQ(run("/nonexistent/socket"), kNumadFailed);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(NumadRunTest, AWrongCommandLineDoesNotAskTheDaemon) {
  EXPECT_EQ(run("/nonexistent/socket", "nonsense"), kNumadUsage);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr("numad: -w needs CPUS[:MIB]"));
}

}  // namespace
}  // namespace vmnuma::tools
