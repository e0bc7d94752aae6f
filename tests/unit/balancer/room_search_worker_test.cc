// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/room_search_worker.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::room_searched;
using balancer::RoomMove;
using balancer::RoomSearch;
using balancer::RoomSearched;
using balancer::RoomSearchWorker;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFound =
    R"({"node":1,"steps":[{"relocations":[)"
    R"({"vm":"web","vm_uuid":"00000000-0000-0000-0000-000000000001","client":0,"from":1,"to":0},)"
    R"({"vm":"db","vm_uuid":"00000000-0000-0000-0000-000000000002","client":1,"from":0,"to":1}]},)"
    R"({"relocations":[)"
    R"({"vm":"x","vm_uuid":"00000000-0000-0000-0000-000000000003","client":0,"from":1,"to":2}]}]})";

TEST(RoomSearchedTest, TheStepsAreThoseThatTheProgramPrints) {
  const RoomSearched found = room_searched(vm_id(5), kFound);
  EXPECT_EQ(found.vm, vm_id(5));
  EXPECT_EQ(found.node, NodeId{1});
  EXPECT_THAT(found.steps, ElementsAre(ElementsAre(RoomMove{{vm_id(1), 0}, {1}, {0}},
                                                   RoomMove{{vm_id(2), 1}, {0}, {1}}),
                                       ElementsAre(RoomMove{{vm_id(3), 0}, {1}, {2}})));
  EXPECT_EQ(found.refused, "");
}

TEST(RoomSearchedTest, WithoutAWayItSaysWhy) {
  const RoomSearched none =
      room_searched(vm_id(5), R"({"node":null,"steps":[],"refused":"nobody may move"})");
  EXPECT_LT(none.node.value, 0);
  EXPECT_EQ(none.refused, "nobody may move");
  EXPECT_EQ(room_searched(vm_id(5), R"({"error":{"code":"busy","message":"not yet"}})").refused,
            "not yet");
}

TEST(RoomSearchedTest, WhatCannotBeUnderstoodMakesNoRoom) {
  for (const char* text : {"", "no JSON", "{}", R"({"node":"x"})", R"({"node":1,"steps":[{}]})",
                           R"({"node":1,"steps":[{"relocations":[{"vm_uuid":7}]}]})",
                           R"({"node":1,"steps":[{"relocations":[{"vm_uuid":"web"}]}]})"}) {
    const RoomSearched none = room_searched(vm_id(5), text);
    EXPECT_LT(none.node.value, 0) << text;
    EXPECT_THAT(none.steps, IsEmpty()) << text;
    EXPECT_NE(none.refused, "") << text;
  }
}

class RoomSearchWorkerTest : public testing::Test {
 protected:
  [[nodiscard]] std::string program(const std::string& script) const {
    const std::string path = directory_.path() + "/vmnuma";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  RoomSearched answer_of(const std::string& path) {
    std::promise<RoomSearched> told;
    RoomSearchWorker worker(board_, path, "/run/x.sock",
                            [&](RoomSearched searched) { told.set_value(std::move(searched)); });
    worker.search({vm_id(5), {2, kMiB * 500, Bytes{}, {{0}, {1}, {3}}}, 3});
    return told.get_future().get();
  }

  TempDirectory directory_;
  balancer::TaskBoard board_;
};

TEST_F(RoomSearchWorkerTest, AsksTheProgramForThatAndTellsWhatItPrints) {
  const std::string path = program("echo \"$@\" > " + directory_.path() + "/words\ncat << 'END'\n" +
                                   std::string(kFound) + "\nEND");
  EXPECT_EQ(answer_of(path).node, NodeId{1});
  std::ifstream file(directory_.path() + "/words");
  std::string words;
  std::getline(file, words);
  EXPECT_EQ(words,
            "--socket /run/x.sock make-room --json --vcpus 2 --memory 500MiB --on 0-1,3 "
            "--seconds 3 --memory-mib 1024");
}

TEST_F(RoomSearchWorkerTest, AProgramThatFailsOrIsMissingMakesNoRoom) {
  EXPECT_THAT(
      answer_of(program("echo '{\"error\":{\"message\":\"no daemon\"}}' >&2; exit 4")).refused,
      HasSubstr("no daemon"));
  EXPECT_THAT(answer_of(program("kill -9 $$")).refused, HasSubstr("what the search for moves"));
  EXPECT_THAT(answer_of(directory_.path() + "/absent").refused, HasSubstr("cannot run"));
  EXPECT_THAT(answer_of("").refused, HasSubstr("is not installed"));
}

TEST_F(RoomSearchWorkerTest, ItsEndDoesNotWaitForASearch) {
  bool was_answered = false;
  {
    RoomSearchWorker worker(
        board_, program("exec sleep 3600"), "/run/x.sock",
        [&](const RoomSearched& searched) { was_answered = searched.refused.empty(); });
    worker.search({vm_id(5), {2, kMiB * 500, Bytes{}, {{0}}}, 3});
  }
  EXPECT_FALSE(was_answered);
}

TEST(SearchProgramTest, IsBesideTheDaemonOrInBinWhereThatIsInSbin) {
  const TempDirectory directory;
  const std::filesystem::path usr = directory.path();
  std::filesystem::create_directories(usr / "bin");
  std::filesystem::create_directories(usr / "sbin");
  EXPECT_EQ(balancer::search_program(""), "");
  EXPECT_EQ(balancer::search_program(usr / "sbin"), "");
  std::ofstream(usr / "bin" / "vmnuma") << "installed";
  EXPECT_EQ(balancer::search_program(usr / "sbin"), usr / "bin" / "vmnuma");
  std::ofstream(usr / "sbin" / "vmnuma") << "built";
  EXPECT_EQ(balancer::search_program(usr / "sbin"), usr / "sbin" / "vmnuma");
}

}  // namespace
}  // namespace vmnuma::tests
