// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/hmat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HmatTest : public testing::Test {
 protected:
  HmatTest() {
    for (const std::int32_t id : {0, 1, 3}) {
      topology_.nodes.push_back({.id = {id}});
    }
    host_.write("sys/devices/system/node/node0/meminfo", "");
  }
  /// The memory of `node` is reached best from `cpus`.
  void set(std::int32_t node, const std::vector<std::int32_t>& cpus, const std::string& latency) {
    const std::string directory =
        "sys/devices/system/node/node" + std::to_string(node) + "/access0/initiators/";
    for (const std::int32_t cpu : cpus) {
      host_.write(directory + "node" + std::to_string(cpu) + "/cpulist", "0\n");
    }
    host_.write(directory + "read_latency", latency);
  }
  Result<std::vector<FirmwareLatency>> read() const {
    return read_hmat(files::Directory::open(host_.path()).value(), topology_);
  }

  tests::FakeHost host_;
  Topology topology_;
};

TEST_F(HmatTest, TellsOfTheBestInitiatorsOnly) {
  set(0, {0}, "85\n");
  set(3, {0, 1}, "190\n");
  EXPECT_THAT(read().value(),
              ElementsAre(FirmwareLatency{{0}, {0}, 85}, FirmwareLatency{{0}, {3}, 190},
                          FirmwareLatency{{1}, {3}, 190}));
}

TEST_F(HmatTest, AHostWithoutItHasNone) {
  EXPECT_THAT(read().value(), IsEmpty());
  host_.write("sys/devices/system/node/node0/access0/initiators/node0/cpulist", "0\n");
  EXPECT_THAT(read().value(), IsEmpty());  // initiators, but no figures
}

TEST_F(HmatTest, NoughtIsNoFigure) {
  set(0, {0}, "0\n");
  EXPECT_THAT(read().value(), IsEmpty());
}

TEST_F(HmatTest, NodesThatAreNotOnlineAreLeftOut) {
  set(0, {0, 7}, "85\n");
  EXPECT_THAT(read().value(), ElementsAre(FirmwareLatency{{0}, {0}, 85}));
}

TEST_F(HmatTest, NonsenseIsCorruptWithItsFile) {
  set(1, {1}, "quick\n");
  const auto latencies = read();
  ASSERT_FALSE(latencies);
  EXPECT_EQ(latencies.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(latencies.error().message, HasSubstr("node1/access0/initiators/read_latency"));
}

}  // namespace
}  // namespace vmnuma::stats
