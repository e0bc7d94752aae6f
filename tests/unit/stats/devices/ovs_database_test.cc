// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/ovs_database.h"

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/devices/ovs_bridges.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/stats/devices/fake_ovs.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::seconds kLong{60};

TEST(OvsBridgesTest, ABridgeHasTheInterfacesOfItsPorts) {
  const OvsBridges bridges = parse_ovs_answer(tests::kOvsAnswer).value();
  EXPECT_THAT(bridges.adapters_below("br-bond"), ElementsAre("eth2", "eth3"));
  EXPECT_THAT(bridges.adapters_below("br0"), IsEmpty());
}

TEST(OvsBridgesTest, PatchPortsLeadToOtherBridgesAndBackOnlyOnce) {
  const OvsBridges bridges = parse_ovs_answer(tests::kOvsAnswer).value();
  EXPECT_THAT(bridges.adapters_below("br-int"), ElementsAre("eth1", "vnet0"));
  EXPECT_THAT(bridges.adapters_below("br-ex"), ElementsAre("eth1", "vnet0"));
}

TEST(OvsBridgesTest, AFakeBridgeStandsForTheOneItIsAPortOf) {
  EXPECT_THAT(parse_ovs_answer(tests::kOvsAnswer)->adapters_below("fake1"),
              ElementsAre("eth1", "vnet0"));
}

TEST(OvsBridgesTest, WhatIsNoAnswerIsRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"id":0,"result":null,"error":"unknown database"})",
        R"({"id":0,"result":[{"rows":[]},{"rows":[]}]})",
        R"({"id":0,"result":[{"rows":[]},{"rows":[]},{"error":"timed out"}]})"}) {
    const auto bridges = parse_ovs_answer(text);
    ASSERT_FALSE(bridges) << text;
    EXPECT_EQ(bridges.error().code, ErrorCode::kCorrupt);
  }
}

TEST(OvsBridgesTest, WhatIsNoNameOfAFileIsNoAdapter) {
  for (const char* name : {"", ".", "..", "../x", "a/b"}) {
    const auto bridges = parse_ovs_answer(
        fmt::format(R"({{"id":0,"result":[{{"rows":[{{"name":"br0","ports":["uuid","p"]}}]}},)"
                    R"({{"rows":[{{"_uuid":["uuid","p"],"name":"p","interfaces":["uuid","i"]}}]}},)"
                    R"({{"rows":[{{"_uuid":["uuid","i"],"name":"{}","type":""}}]}}]}})",
                    name));
    ASSERT_TRUE(bridges) << name;
    EXPECT_THAT(bridges->adapters_below("br0"), IsEmpty()) << name;
  }
}

TEST(OvsBridgesTest, OddRowsLeadNowhere) {
  const auto bridges = parse_ovs_answer(
      R"({"id":0,"result":[{"rows":[7,{"name":"br0","ports":["set",[1,["uuid","x"],["uuid"]]]},)"
      R"({"name":"br1"},{"ports":["uuid","p"]}]},{"rows":[{"_uuid":["uuid","p"],"interfaces":3}]},)"
      R"({"rows":[[],{"type":"patch","options":["map",[3,["peer",4]]]}]}]})");
  ASSERT_TRUE(bridges);
  EXPECT_THAT(bridges->adapters_below("br0"), IsEmpty());
  EXPECT_THAT(bridges->adapters_below("br1"), IsEmpty());
}

class OvsDatabaseTest : public testing::Test {
 protected:
  tests::TempDirectory directory_;
  std::string path_ = directory_.path() + "/db.sock";
};

TEST_F(OvsDatabaseTest, ReturnsTheAnswerAndNothingElseThatIsSent) {
  const tests::FakeOvs server(
      path_,
      std::string(R"({"id":"echo","method":"echo","params":["}\"{"]} {"id":1,"result":[]})") +
          tests::kOvsAnswer + "{");
  EXPECT_EQ(ask_ovs_database(path_, kLong).value(), tests::kOvsAnswer);
}

TEST_F(OvsDatabaseTest, WhereThereIsNoneItIsNotFound) {
  EXPECT_EQ(ask_ovs_database(path_, kLong).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ask_ovs_database(std::string(200, 'x'), kLong).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(OvsDatabaseTest, AServerThatSaysNothingIsNotWaitedFor) {
  const tests::FakeOvs server(path_, "");
  EXPECT_EQ(ask_ovs_database(path_, std::chrono::milliseconds(1)).error().code,
            ErrorCode::kUnavailable);
}

TEST_F(OvsDatabaseTest, NoMoreIsReadThanAnAnswerMayHave) {
  const tests::FakeOvs server(path_, std::string(2 * kMostOvsBytes, ' '));
  EXPECT_EQ(ask_ovs_database(path_, kLong).error().code, ErrorCode::kCorrupt);
}

TEST_F(OvsDatabaseTest, HalfAnAnswerIsNone) {
  const tests::FakeOvs server(path_, R"({"id":0,"result":[)");
  EXPECT_EQ(ask_ovs_database(path_, std::chrono::milliseconds(20)).error().code,
            ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace vmnuma::stats
