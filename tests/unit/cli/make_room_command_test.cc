// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/support/temp_directory.h"
#include "tests/unit/cli/movable_host.h"

namespace vmnuma::tools {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class MakeRoomCommandTest : public MovableHostTest {
 protected:
  MakeRoomCommandTest() : MovableHostTest(1, 10) { then_free_ = std::int64_t{545} << 20U; }
  int run(std::vector<std::string> words, const std::string& answers = "") {
    words.insert(words.begin(), "make-room");
    return run_words(words, answers);
  }
};

TEST_F(MakeRoomCommandTest, SaysWhichVmMustMoveAndMovesNone) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("node 0 to 1, 64.0 MiB"));
  EXPECT_THAT(out_.str(), HasSubstr("1 move, 64.0 MiB of memory, 1 s at the permitted rate"));
  EXPECT_THAT(ordered_, IsEmpty());
}

TEST_F(MakeRoomCommandTest, TellsPrograms) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--json"}), kExitOk);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["page_bytes"], 0) << "as reservations have it";
  EXPECT_EQ(json["node"], 0);
  EXPECT_EQ(json["fits_now"], false);
  EXPECT_EQ(json["moves"], 1);
  EXPECT_EQ(json["moved_bytes"], 64 << 20);
  EXPECT_EQ(json["seconds"], 1);
  EXPECT_EQ(json["is_cheapest"], true);
  ASSERT_THAT(json["steps"], SizeIs(1));
  EXPECT_EQ(json["steps"][0]["relocations"][0]["to"], 1);
}

TEST_F(MakeRoomCommandTest, WhereItFitsNoVmMovesAndNoQuestionIsAsked) {
  ASSERT_EQ(run({"--vcpus", "2", "--memory", "100MiB", "--do"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("already has room for"));
  EXPECT_THAT(err_.str(), IsEmpty());
  EXPECT_THAT(ordered_, IsEmpty());
}

TEST_F(MakeRoomCommandTest, WhereNothingHelpsItSaysWhyAndFails) {
  EXPECT_EQ(run({"--vcpus", "3", "--memory", "100MiB"}), kExitRefused);
  EXPECT_THAT(out_.str(), HasSubstr("has that many CPUs"));
  EXPECT_EQ(run({"--vcpus", "1", "--memory", "900MiB", "--json", "--do", "--yes"}), kExitRefused);
  EXPECT_THAT(out_.str(), HasSubstr("\"node\":null"));
  EXPECT_THAT(ordered_, IsEmpty());
}

TEST_F(MakeRoomCommandTest, MovesOnceTheUserSaysYes) {
  const std::vector<std::string> words{"--vcpus", "2", "--memory", "500MiB", "--on", "0", "--do"};
  EXPECT_EQ(run(words, "n\n"), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("not confirmed, so nothing was moved"));
  EXPECT_THAT(ordered_, IsEmpty());
  ASSERT_EQ(run(words, "yes\n"), kExitOk);
  ASSERT_THAT(ordered_, SizeIs(1));
  EXPECT_EQ(ordered_[0].moves.front().from, NodeId{0});
  EXPECT_EQ(ordered_[0].moves.front().to, NodeId{1});
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

TEST_F(MakeRoomCommandTest, SeveralNodesMayBeNamedOfWhichItIsOnOne) {
  for (const char* nodes : {"0-1", "0"}) {
    out_.str("");
    ASSERT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", nodes, "--json"}), kExitOk);
    EXPECT_EQ(nlohmann::json::parse(out_.str())["node"], 0) << nodes;
  }
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "0,5"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--on: there is no node 5, this host has 0-1"));
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--on", "x"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--on: 'x' is no list of nodes"));
}

TEST_F(MakeRoomCommandTest, HugePagesThatTheHostLacksAreRefused) {
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--hugepages", "4MiB"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--hugepages: this host has no huge pages of 4096 KiB"));
}

TEST_F(MakeRoomCommandTest, DevicesOfASimulatedHostAreNotSoughtOnThisOne) {
  status_.uri = "simulated:shifts";
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "500MiB", "--device", "0000:3b:00.0"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("host is another one (simulated:shifts)"));
}

TEST_F(MakeRoomCommandTest, ItMustBeSaidHowLargeTheVmIs) {
  EXPECT_EQ(run({"--vcpus", "2"}), kExitUsage);
  EXPECT_EQ(run({"--memory", "5GiB"}), kExitUsage);
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "5"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--memory: '5' is not a size"));
}

}  // namespace
}  // namespace vmnuma::tools
