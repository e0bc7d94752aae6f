// SPDX-License-Identifier: Apache-2.0
// Recordings that were made to harm their readers: each has the right checksums.
#include "balancer/record/sound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "balancer/record/frame.h"
#include "balancer/record/replay.h"
#include "tests/support/recording_lines.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

/// Of a host with two VMs that have lived there for a while; epochs go on in the recording.
std::vector<std::string> recording() {
  HostStory story(2, balancer::Mode::kActive);
  story.start(small_vm(1, "one", 2), 0, 80);
  story.start(small_vm(2, "two", 3), 0, 90);
  (void)story.report_domains();
  for (int epoch = 0; epoch < 8; ++epoch) {
    story.carry_out(story.epoch());
  }
  story.recorder().begin(story.controller(), /*anonymize=*/false, std::nullopt);
  for (int epoch = 0; epoch < 4; ++epoch) {
    (void)story.report_domains();
    story.carry_out(story.epoch());
  }
  return story.recorder().take_lines(std::size_t{1} << 24U);
}

/// The line with one value of its frame changed.
std::string changed(const std::string& line, const std::string& path, const ordered_json& value) {
  ordered_json frame = ordered_json::parse(frame_of(line));
  frame.at(ordered_json::json_pointer(path)) = value;
  return recording_line(frame.dump());
}

Result<balancer::ReplayReport> replayed(const std::vector<std::string>& lines) {
  std::size_t next = 0;
  return balancer::replay(
      [&]() -> std::optional<std::string> {
        return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
      },
      {});
}

struct Harm {
  std::string name;
  std::string path;  ///< of the value, in the header's frame
  ordered_json value;
  std::string message;
};

class HarmfulHeaderTest : public testing::TestWithParam<Harm> {};

TEST_P(HarmfulHeaderTest, IsRefused) {
  const std::vector<std::string> lines = recording();
  ASSERT_TRUE(balancer::read_frame(lines[0]));
  const auto read = balancer::read_frame(changed(lines[0], GetParam().path, GetParam().value));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << read.error().message;
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Sound, HarmfulHeaderTest,
    testing::Values(
        // What the controller indexes with.
        Harm{"HomeOfARecord", "/header/state/ledger/vms/0/1/clients/0/home", 77, "home on node 77"},
        Harm{"HomeOfAClient", "/header/state/snapshot/clients/0/home", 2, "node that is not there"},
        Harm{"CameFrom", "/header/state/snapshot/clients/0/came_from", 1000000,
             "node that is not there"},
        Harm{"AllowedNode", "/header/state/snapshot/clients/0/allowed/0", 99,
             "node that is not there"},
        Harm{"AllowedHome", "/header/state/ledger/vms/0/1/allowed", {0, 5}, "not there"},
        Harm{"VmOfAClient", "/header/state/snapshot/clients/0/vm", 7, "is another's"},
        Harm{"FirstClient", "/header/state/snapshot/vms/0/first_client", 900, "clients of VM"},
        Harm{"ClientCount", "/header/state/snapshot/vms/0/client_count", 900, "clients of VM"},
        Harm{"NoClients", "/header/state/snapshot/clients", ordered_json::array(), "clients of VM"},
        Harm{"SuggestedNode", "/header/state/snapshot/vms/0/suggested", {4}, "not there"},
        Harm{"LastPlacedOn", "/header/state/last_placed_on", 12, "last VM was placed"},
        // What is kept free for VMs to come.
        Harm{"MoreReservedThanKept", "/header/state/snapshot/nodes/0/reservations",
             ordered_json::parse(R"([{"page_size":0,"memory":1125899906842624}])"),
             "reservations that cannot be"},
        Harm{"LessReservedThanNothing", "/header/state/snapshot/nodes/0/reservations",
             ordered_json::parse(R"([{"page_size":2097152,"memory":-1}])"),
             "reservations that cannot be"},
        Harm{"RoomForVmsToCome", "/header/state/reservations/all",
             ordered_json::parse(R"([{"name":"x","vm":"","vm_id":null,"group":"","vcpus":1,)"
                                 R"("homes":[0],"memory":[{"node":0,"page_size":0,"memory":-1}],)"
                                 R"("until_unix_s":null,"served":[]}])"),
             "a reservation is out of range"},
        Harm{"LessThanNothingTaken", "/header/state/reservations/all",
             ordered_json::parse(R"([{"name":"x","vm":"","vm_id":null,"group":"","vcpus":1,)"
                                 R"("homes":[0],"memory":[],"until_unix_s":null,"served":[],)"
                                 R"("shared":true,"taken":[{"vm":)"
                                 R"("00000000-0000-0000-0000-000000000001","name":"",)"
                                 R"("vcpus":-1,"memory":[]}]}])"),
             "a reservation is out of range"},
        // Sizes that must match the topology.
        Harm{"Distances", "/header/state/ledger/topology/distances", {10}, "another host"},
        Harm{"AllDistances", "/header/state/setup/topology/distances", {10}, "1 distances"},
        Harm{"NodeStates", "/header/state/snapshot/nodes", ordered_json::array(), "0 of 2 nodes"},
        Harm{"MemoryOfAClient", "/header/state/snapshot/clients/0/memory", {1}, "memory on 1"},
        Harm{"VcpusOfAClient",
             "/header/state/ledger/vms/0/1/clients/0/shape/vcpus",
             {0, 1, 2, 3},
             "do not have its vCPUs"},
        Harm{"NoVcpus", "/header/state/ledger/vms/0/1/description/vcpus", ordered_json::array(),
             "do not have its vCPUs"},
        Harm{"NoSampleBefore", "/header/state/ledger/last_sample", nullptr, "read in no sample"},
        Harm{"WrongKey", "/header/state/ledger/vms/0/0", "ffffffff-0000-0000-0000-000000000000",
             "not where it should be"},
        // Numbers out of range.
        Harm{"Reason", "/header/state/snapshot/vms/0/policy/memory_mode", 3, "memory_mode"},
        Harm{"Mode", "/header/state/setup/mode", -1, "'state.setup.mode'"},
        Harm{"Option", "/header/state/setup/options/Numa.RebalancePeriod", 0, "RebalancePeriod"},
        Harm{"EpochLength", "/header/state/snapshot/epoch_length", 0, "took 0 us"},
        Harm{"EpochsToCome", "/header/epoch_length_ms", 0, "epochs take 0 ms"},
        Harm{"LargeAmount", "/header/state/snapshot/nodes/0/free", 4503599627370497,
             "'state.snapshot.nodes[0].free'"},
        Harm{"LargeNumber", "/header/state/next_action", 9223372036854775807,
             "'state.next_action'"},
        Harm{"Unsigned", "/header/state/next_action", 18446744073709551615U, "'state.next_action'"},
        Harm{"SmallNumber", "/header/state/snapshot/clients/0/id/1", 4294967296,
             "'state.snapshot.clients[0].id'"},
        Harm{"Reservation", "/header/state/snapshot/vms/0/policy/reservation_permille", 1001,
             "policy has a number"},
        Harm{"Weight", "/header/state/ledger/vms/0/1/weight", -5, "weight out of range"},
        // Wrong types.
        Harm{"Version", "/header/version", 7, "'version'"},
        Harm{"Anonymized", "/header/anonymized", "yes", "'anonymized'"},
        Harm{"State", "/header/state", ordered_json::array(), "'state'"},
        Harm{"Ledger", "/header/state/ledger", 5, "'state.ledger'"}),
    [](const auto& tested) { return tested.param.name; });

TEST(SoundTest, ARecordingMayBeginWhileAnOrderIsUnderWayWhoseVmHasEnded) {
  HostStory story(2, balancer::Mode::kActive);
  story.start(small_vm(1, "one", 2), 0, 50);
  story.pin(1, node_cpus(0));
  (void)story.report_domains();
  (void)story.epoch();
  (void)story.epoch();
  const auto move = story.controller().on(
      balancer::CommandReceived{1, balancer::MoveRequest{"one", NodeId{1}, {}}});
  ASSERT_EQ(move.orders.size(), 1U);
  story.stop(1);
  (void)story.report_domains();
  story.recorder().begin(story.controller(), /*anonymize=*/false, std::nullopt);
  (void)story.epoch();
  const auto header =
      balancer::read_frame(story.recorder().take_lines(std::size_t{1} << 24U).at(0));
  EXPECT_TRUE(header) << header.error().message;
}

TEST(HarmfulFrameTest, WithoutANumberIsNotTheNextOne) {
  std::vector<std::string> lines = recording();
  lines[0] = changed(lines[0], "/n", "zero");
  const auto report = replayed(lines);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("must be frame 0"));
}

TEST(HarmfulFrameTest, MegabytesOfBracketsAreNotParsed) {
  const std::string line = recording_line(std::string(std::size_t{15} << 20U, '['));
  const auto read = balancer::read_frame(line);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("nested more than"));
}

struct HarmfulEvent {
  std::string name;
  std::string event;
  std::string path;  ///< in its data
  ordered_json value;
};

class HarmfulEventTest : public testing::TestWithParam<HarmfulEvent> {};

TEST_P(HarmfulEventTest, EndsTheReplayBeforeIt) {
  std::vector<std::string> lines = recording();
  const auto line = std::find_if(lines.begin(), lines.end(), [](const std::string& text) {
    return text.find("\"event\":\"" + GetParam().event + "\"") != std::string::npos;
  });
  ASSERT_NE(line, lines.end());
  *line = changed(*line, "/data" + GetParam().path, GetParam().value);
  const auto report = replayed(lines);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->damage);
  EXPECT_THAT(report->damage->message,
              HasSubstr("line " + std::to_string(line - lines.begin() + 1)));
}

INSTANTIATE_TEST_SUITE_P(
    Sound, HarmfulEventTest,
    testing::Values(
        HarmfulEvent{"VmsInDisorder", "domains", "/running/0/id",
                     "ffffffff-0000-0000-0000-000000000000"},
        HarmfulEvent{"VcpusInDisorder", "domains", "/running/0/vcpus", {1, 0}},
        HarmfulEvent{"NegativeVcpus", "domains", "/running/0/vcpus", {-1, 0}},
        HarmfulEvent{"NodesOfACell", "domains", "/running/0/cells",
                     ordered_json::parse(R"([{"id":0,"vcpus":[0],"memory":1,"page_size":null,)"
                                         R"("binding":{"mode":"strict","nodes":[1,0]}}])")},
        HarmfulEvent{"Sockets", "domains", "/running/0/sockets", 2000000000},
        HarmfulEvent{"Numatune", "domains", "/running/0/numatune", 5},
        HarmfulEvent{"LongEpoch", "sample", "/sample/taken_at", 4503599627370496},
        HarmfulEvent{"NegativeTime", "sample", "/sample/vms/0/vcpus/0/run_ns", -7},
        HarmfulEvent{"NegativeMemory", "sample", "/sample/vms/0/memory/0", -1},
        HarmfulEvent{
            "Reads",
            "sample",
            "/sample/vms/0/memory_reads",
            {{"count", -1}, {"counted", 1}, {"ran", 1}, {"cycles", 0}, {"stalled_cycles", 0}}},
        HarmfulEvent{"Quota", "sample", "/sample/vms/0/quota_permille", 4096001}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace vmnuma::tests
