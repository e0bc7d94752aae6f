// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "balancer/record/frame.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"
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
using testing::Not;
using testing::SizeIs;
using tests::FakeDaemon;

class MakeRoomCommandTest : public testing::Test {
 protected:
  /// Two VMs of 64 MiB on node 0, and an empty node 1. Half of each GiB is free, less the reserve.
  MakeRoomCommandTest() : story_(2, balancer::Mode::kObserve) {
    for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
      story_.start(tests::small_vm(number, number == 1 ? "one" : "two", 1), 0, 10);
      story_.pin(number, tests::node_cpus(0));
    }
    (void)story_.tell_domains();
    for (int epoch = 0; epoch < 10; ++epoch) {
      (void)story_.epoch();
    }
  }
  int run(const std::vector<std::string>& words, const std::string& answers = "") {
    FakeDaemon daemon(FakeDaemon::answering([&](const Command& command) -> Result<Answer> {
      if (std::holds_alternative<StateRequest>(command)) {
        return Answer(StateView{balancer::header_line(0, story_.controller(), nullptr)});
      }
      if (const auto* moves = std::get_if<MoveTogetherRequest>(&command)) {
        ordered_.push_back(*moves);
        return answer_;
      }
      if (std::holds_alternative<balancer::HostRequest>(command)) {
        balancer::HostView host;
        host.nodes.emplace_back();
        host.nodes.back().node = placement::NodeId{0};
        host.nodes.back().largest_vm_bytes = then_free_;
        return Answer(host);
      }
      EXPECT_TRUE(std::holds_alternative<HistoryRequest>(command));
      HistoryView view;
      view.moves.emplace_back();
      view.moves.back().action = 7;
      view.moves.back().state = state_;
      view.moves.back().detail = "moved 64.0 MiB";
      return Answer(view);
    }));
    std::vector<std::string> arguments{"--socket", daemon.socket_path(), "make-room"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    EXPECT_TRUE(invocation) << invocation.error().text;
    std::istringstream in(answers);
    Surroundings surroundings{out_, err_, false, [](std::chrono::milliseconds) { return false; },
                              std::chrono::milliseconds(60'000)};
    surroundings.in = &in;
    return tools::run(*invocation, surroundings);
  }

  tests::HostStory story_;
  Result<Answer> answer_ = Answer(DoneView{"moving", 7});
  std::string state_ = "done";
  std::int64_t then_free_ = std::int64_t{545} << 20U;  ///< on node 0, once something has moved
  std::vector<MoveTogetherRequest> ordered_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(MakeRoomCommandTest, SaysWhoMustMoveAndMovesNobody) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("node 0 to 1, 64.0 MiB"));
  EXPECT_THAT(out_.str(), HasSubstr("1 move, 64.0 MiB of memory, 1 s at the permitted rate"));
  EXPECT_THAT(ordered_, IsEmpty());
}

TEST_F(MakeRoomCommandTest, TellsPrograms) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--json"}), kExitOk);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["node"], 0);
  EXPECT_EQ(json["fits_now"], false);
  EXPECT_EQ(json["moves"], 1);
  EXPECT_EQ(json["moved_bytes"], 64 << 20);
  EXPECT_EQ(json["seconds"], 1);
  EXPECT_EQ(json["is_cheapest"], true);
  ASSERT_THAT(json["steps"], SizeIs(1));
  EXPECT_EQ(json["steps"][0]["relocations"][0]["to"], 1);
}

TEST_F(MakeRoomCommandTest, WhereItFitsNobodyMovesOrIsAsked) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "100MiB", "--do"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("as it is: nothing needs to"));
  EXPECT_THAT(err_.str(), IsEmpty());
  EXPECT_THAT(ordered_, IsEmpty());
}

TEST_F(MakeRoomCommandTest, WhereNothingHelpsItSaysWhyAndFails) {
  EXPECT_EQ(run({"--vcpus", "3", "--memory", "100MiB"}), kExitRefused);
  EXPECT_THAT(out_.str(), HasSubstr("has as many CPUs"));
  EXPECT_EQ(run({"--vcpus", "1", "--memory", "900MiB", "--json", "--do", "--yes"}), kExitRefused);
  EXPECT_THAT(out_.str(), HasSubstr("\"node\":null"));
  EXPECT_THAT(ordered_, IsEmpty());
}

TEST_F(MakeRoomCommandTest, MovesOnceSomebodySaysYes) {
  const std::vector<std::string> words{"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--do"};
  EXPECT_EQ(run(words, "n\n"), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("nobody said yes, so nothing was moved"));
  EXPECT_THAT(ordered_, IsEmpty());
  ASSERT_EQ(run(words, "yes\n"), kExitOk);
  ASSERT_THAT(ordered_, SizeIs(1));
  EXPECT_EQ(ordered_[0].moves.front().from, placement::NodeId{0});
  EXPECT_EQ(ordered_[0].moves.front().to, placement::NodeId{1});
  EXPECT_THAT(out_.str(), HasSubstr("Node 0 has room now"));
}

TEST_F(MakeRoomCommandTest, WithYesItDoesNotAskAndJsonTellsWhatBecameOfIt) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--do", "--yes", "--json"}),
            kExitOk);
  EXPECT_THAT(err_.str(), Not(HasSubstr("[y/N]")));
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["steps_done"], 1);
  EXPECT_EQ(json["stopped_because"], "");
  EXPECT_EQ(json["has_room"], true);
}

TEST_F(MakeRoomCommandTest, RoomThatOthersHaveTakenMeanwhileIsNotTold) {
  then_free_ = std::int64_t{499} << 20U;
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--do", "--yes"}),
            kExitRefused);
  EXPECT_THAT(out_.str(), HasSubstr("has too little room again"));
}

TEST_F(MakeRoomCommandTest, StopsAtAStepThatIsRefused) {
  answer_ = failure(ErrorCode::kBusy, "VM 'one' does not live on node 0 any more");
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--do", "--yes"}),
            kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("does not live on node 0 any more"));
  EXPECT_THAT(out_.str(), HasSubstr("0 of 1 steps are done"));
}

TEST_F(MakeRoomCommandTest, AnInterruptionBeginsNothingMore) {
  state_ = "open";
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "560MiB", "--on", "0", "--do", "--yes", "--json"}),
            kExitRefused);
  EXPECT_THAT(ordered_, SizeIs(1));  // of two
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_THAT(json["steps"], SizeIs(2));
  EXPECT_EQ(json["steps_done"], 0);
  EXPECT_EQ(json["stopped_because"], "interrupted");
}

TEST_F(MakeRoomCommandTest, ADeviceSaysOnWhichNode) {
  const tests::TempDirectory root;
  const std::string device = root.path() + "/sys/bus/pci/devices/0000:3b:00.0";
  std::filesystem::create_directories(device);
  std::ofstream(device + "/numa_node") << "0\n";
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--device", "0000:3b:00.0", "--root",
                 root.path(), "--json"}),
            kExitOk)
      << err_.str();
  EXPECT_EQ(nlohmann::json::parse(out_.str())["node"], 0);
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--device", "0000:3c:00.0", "--root",
                 root.path()}),
            kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("no PCI device 0000:3c:00.0"));
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--device", "../../x"}), kExitUsage);
}

TEST_F(MakeRoomCommandTest, ItMustBeSaidHowLargeTheVmIs) {
  EXPECT_EQ(run({"--vcpus", "2"}), kExitUsage);
  EXPECT_EQ(run({"--memory", "5GiB"}), kExitUsage);
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "5"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--memory: '5' is no size"));
}

}  // namespace
}  // namespace vmnuma::tools
