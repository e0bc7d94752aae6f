// SPDX-License-Identifier: Apache-2.0
/// What becomes of measured distances in the controller.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/record/playback.h"
#include "placement/memory_cost.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CommandReceived;
using balancer::Mode;
using balancer::Origin;
using balancer::TopologyChanged;
using testing::ElementsAre;
using testing::HasSubstr;

/// Node 0 is the nearer one for node 1.
TopologyChanged measured() {
  Topology topology = small_host(3);
  topology.distances = {10, 15, 31, 15, 10, 31, 31, 31, 10};
  return {topology, balancer::MeasuredMemory{.local_read_ns = 120, .stall_pct = 36}};
}

HostStory one_vm() {
  HostStory host(3, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 50);
  for (int epoch = 0; epoch < 3; ++epoch) {
    host.carry_out(host.epoch());
  }
  return host;
}

balancer::OptionView stall_option(HostStory& host) {
  const auto answer = host.controller()
                          .on(CommandReceived{1, balancer::OptionsGetRequest{"Numa.MemStallPct"}})
                          .replies.at(0)
                          .answer;
  return std::get<balancer::OptionView>(answer.value());
}

std::string explained_memory(HostStory& host) {
  const auto answer = host.controller()
                          .on(CommandReceived{1, balancer::ExplainRequest{"web1"}})
                          .replies.at(0)
                          .answer;
  return std::get<balancer::ExplainView>(answer.value()).memory;
}

TEST(DistancesTest, MeasuredOnesAreDecidedByAndNothingElseIsForgotten) {
  HostStory host = one_vm();
  const std::int32_t home = host.home(1);
  EXPECT_THAT(explained_memory(host), HasSubstr("distances are the firmware's, and 30 % of run "
                                                "time is assumed to be spent waiting for memory"));
  (void)host.controller().on(measured());
  (void)host.epoch();
  const Snapshot& snapshot = host.controller().snapshot();
  EXPECT_THAT(snapshot.topology.distances, ElementsAre(10, 15, 31, 15, 10, 31, 31, 31, 10));
  EXPECT_EQ(snapshot.vms[0].stall, Permille{360});
  EXPECT_TRUE(snapshot.clients[0].memory_known);
  EXPECT_EQ(host.home(1), home);
  EXPECT_EQ(stall_option(host).origin, Origin::kMeasured);
  EXPECT_EQ(stall_option(host).value, 36);
  EXPECT_THAT(
      explained_memory(host),
      HasSubstr("distances are measured, and 36 % of run time is estimated to be spent waiting for "
                "memory; a local read takes 120 ns"));
}

TEST(DistancesTest, AnOptionThatIsSetGoesBeforeWhatWasMeasured) {
  HostStory host = one_vm();
  (void)host.controller().on(
      CommandReceived{1, balancer::OptionsSetRequest{"Numa.MemStallPct", 20, false}});
  (void)host.controller().on(measured());
  EXPECT_EQ(stall_option(host).value, 20);
  EXPECT_EQ(stall_option(host).origin, Origin::kRuntime);
  EXPECT_THAT(explained_memory(host),
              HasSubstr("20 % of run time is configured to count as waiting for memory"));
}

/// Ten seconds of run time, of which `permille` waited at `read_ns` a read.
MemoryReads reads(std::int64_t permille, std::int64_t read_ns) {
  return {
      .count = permille * 20'000'000 / read_ns + 1, .counted = {10'000'000}, .ran = {10'000'000}};
}

std::int64_t stall_of_one(HostStory& host) {
  return host.controller().snapshot().vms[0].stall.value;
}

TEST(DistancesTest, WhatAVmsCpusCountedIsItsPriceAtTheMeasuredTimeOfARead) {
  HostStory host = one_vm();
  (void)host.controller().on(measured());  // 120 ns, the host's price is 36 %
  host.set_reads(reads(180, 120));
  for (int epoch = 0; epoch < 3; ++epoch) {
    (void)host.epoch();
  }
  EXPECT_EQ(stall_of_one(host), 180);
  EXPECT_THAT(
      explained_memory(host),
      HasSubstr(
          "distances are measured, and 18 % of its run time is estimated to be spent waiting for "
          "memory, as its CPUs counted (the host's figure is 36 %)"));
}

TEST(DistancesTest, WithoutMeasuredTimesAReadTakesTheTypicalOne) {
  HostStory host = one_vm();
  host.set_reads(reads(10, kTypicalReadNs));
  for (int epoch = 0; epoch < 3; ++epoch) {
    (void)host.epoch();
  }
  EXPECT_EQ(stall_of_one(host), 75);
  EXPECT_THAT(
      explained_memory(host),
      HasSubstr(
          "distances are the firmware's, and 7 % of its run time is estimated to be spent waiting "
          "for memory, a quarter of the host's 30 %, because its CPUs counted 1 %"));
}

TEST(DistancesTest, AnOptionThatIsSetGoesBeforeWhatCpusCount) {
  HostStory host = one_vm();
  host.set_reads(reads(180, kTypicalReadNs));
  for (int epoch = 0; epoch < 3; ++epoch) {
    (void)host.epoch();
  }
  EXPECT_EQ(stall_of_one(host), 180);
  (void)host.controller().on(
      CommandReceived{1, balancer::OptionsSetRequest{"Numa.MemStallPct", 20, false}});
  (void)host.epoch();
  EXPECT_EQ(stall_of_one(host), 200);
  EXPECT_THAT(explained_memory(host),
              HasSubstr("20 % of run time is configured to count as waiting for memory"));
}

TEST(DistancesTest, APriceThatIsSetIsReplayedAsOne) {
  HostStory host = one_vm();
  host.set_reads(reads(180, kTypicalReadNs));
  host.recorder().begin(host.controller(), /*anonymize=*/false, std::nullopt);
  balancer::ConfigChanged config{{Mode::kActive, {}, {}, {}}};
  config.options.mem_stall_pct = 20;
  config.origins["Numa.MemStallPct"] = Origin::kFile;
  (void)host.recorder().pass(host.controller(), config);
  for (int epoch = 0; epoch < 4; ++epoch) {
    (void)host.epoch();
  }
  EXPECT_EQ(stall_of_one(host), 200);
  balancer::Playback playback;
  for (const std::string& line : host.recorder().take_lines(std::size_t{1} << 24U)) {
    const auto content = playback.take(line);
    ASSERT_TRUE(content) << content.error().message;
    if (const auto* event = std::get_if<balancer::Event>(&*content)) {
      (void)playback.controller().on(*event);
    }
  }
  EXPECT_EQ(playback.controller().snapshot().vms[0].stall.value, 200);
  EXPECT_EQ(playback.controller().ledger().options().mem_stall_pct, 20);
}

TEST(DistancesTest, AReadConfigurationKeepsWhatWasMeasured) {
  HostStory host = one_vm();
  (void)host.controller().on(measured());
  const auto effects = host.controller().on(balancer::ConfigChanged{{Mode::kActive, {}, {}, {}}});
  EXPECT_EQ(stall_option(host).value, 36);
  EXPECT_EQ(effects.options->mem_stall_pct, 36);
}

TEST(DistancesTest, TheFirmwaresAreTakenBack) {
  HostStory host = one_vm();
  (void)host.controller().on(measured());
  (void)host.controller().on(TopologyChanged{small_host(3), std::nullopt});
  EXPECT_EQ(stall_option(host).value, 30);
  EXPECT_EQ(stall_option(host).origin, Origin::kDefault);
}

TEST(DistancesTest, MeasuredOnesOutliveCpusThatGo) {
  HostStory host = one_vm();
  (void)host.controller().on(measured());
  TopologyChanged gone = measured();
  gone.topology.nodes[2].cpus.clear();
  (void)host.controller().on(gone);
  (void)host.epoch();
  EXPECT_EQ(host.controller().snapshot().topology.distances, measured().topology.distances);
  EXPECT_EQ(stall_option(host).value, 36);
}

TEST(DistancesTest, TheFirmwaresCountOfNodesThatCameAndWereNotMeasured) {
  HostStory host = one_vm();
  (void)host.controller().on(measured());
  (void)host.controller().on(TopologyChanged{small_host(4), std::nullopt});
  EXPECT_EQ(stall_option(host).value, 30);
  EXPECT_EQ(stall_option(host).origin, Origin::kDefault);
}

}  // namespace
}  // namespace vmnuma::tests
