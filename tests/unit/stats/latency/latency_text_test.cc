// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/latency_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

using testing::HasSubstr;

KeptLatencies kept() {
  return {"b0070000-aaaa-bbbb-cccc-000000000001",
          {{{0}, {0}, LatencyState::kMeasured, 80},
           {{0}, {4}, LatencyState::kMeasured, 140},
           {{4}, {0}, LatencyState::kMeasured, 141},
           {{4}, {4}, LatencyState::kMeasured, 82}}};
}

Topology topology() {
  Topology made;
  for (const std::int32_t id : {0, 4}) {
    Node node{.id = {id}};
    node.cpus = {{{id}, id, id}};
    node.memory = kGiB;
    made.nodes.push_back(node);
  }
  made.distances = {10, 20, 20, 10};
  return made;
}

TEST(LatencyTextTest, ComesBackAsItWas) {
  const auto again = parse_latencies(text_of(kept()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, kept());
}

TEST(LatencyTextTest, DamagedTextIsCorrupt) {
  const std::string whole = text_of(kept());
  for (
      const std::string& text :
      {std::string(), std::string("[]"), whole.substr(0, whole.size() / 2),
       std::string(R"({"version":2,"boot_id":"x","latencies":[]})"),
       std::string(R"({"version":1,"latencies":[]})"),
       std::string(R"({"version":1,"boot_id":7,"latencies":[]})"),
       std::string(R"({"version":1,"boot_id":"x","latencies":{}})"),
       std::string(R"({"version":1,"boot_id":"x","latencies":[7]})"),
       std::string(R"({"version":1,"boot_id":"x","latencies":[{"cpu":0,"memory":0}]})"),
       std::string(R"({"version":1,"boot_id":"x","latencies":[{"cpu":0,"memory":0,"read_ns":0}]})"),
       std::string(
           R"({"version":1,"boot_id":"x","latencies":[{"cpu":-1,"memory":0,"read_ns":5}]})"),
       std::string(
           R"({"version":1,"boot_id":"x","latencies":[{"cpu":4294967296,"memory":0,"read_ns":5}]})"),
       std::string("\xff\xfe")}) {
    const auto parsed = parse_latencies(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(parsed.error().message, HasSubstr("kept latencies"));
  }
}

TEST(LatencyTextTest, HoldForTheirBootAndTheirNodesOnly) {
  EXPECT_TRUE(still_hold(kept(), kept().boot_id, topology()));
  EXPECT_FALSE(still_hold(kept(), "another boot", topology()));
  KeptLatencies without_boot = kept();
  without_boot.boot_id.clear();
  EXPECT_FALSE(still_hold(without_boot, "", topology()));
  Topology changed = topology();
  changed.nodes[1].id = NodeId{5};
  EXPECT_FALSE(still_hold(kept(), kept().boot_id, changed));
  changed = topology();
  changed.nodes.pop_back();
  changed.distances = {10};
  EXPECT_FALSE(still_hold(kept(), kept().boot_id, changed));
  KeptLatencies fewer = kept();
  fewer.latencies.pop_back();
  EXPECT_FALSE(still_hold(fewer, fewer.boot_id, topology()));
}

}  // namespace
}  // namespace vmnuma::stats
