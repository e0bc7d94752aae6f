// SPDX-License-Identifier: Apache-2.0
/// What counters of vCPUs and CPUs say between two readings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/node_usage.h"
#include "balancer/core/vm_usage.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

VmSample vm_at(std::int64_t run_ns, std::int64_t wait_ns) {
  VmSample vm;
  vm.vcpus = {{0, 10, run_ns, wait_ns}, {2, 12, run_ns * 2, wait_ns * 2}};
  return vm;
}

TEST(VmUsageTest, SumsUpGroupsAndRoundsNanosecondsDown) {
  VmSample before = vm_at(0, 0);
  VmSample now = vm_at(1'999, 500'000);
  now.throttled_us = 30;
  before.throttled_us = 10;
  const VmUsage usage = usage_between(before, now, {{0}, {2}, {0, 2}});
  EXPECT_EQ(usage.unusable_because, "");
  ASSERT_EQ(usage.groups.size(), 3U);
  EXPECT_EQ(usage.groups[0].run, CpuTime{1});
  EXPECT_EQ(usage.groups[1].run, CpuTime{3});
  EXPECT_EQ(usage.groups[2].run, CpuTime{4});
  EXPECT_EQ(usage.groups[2].wait, CpuTime{1500});
  EXPECT_EQ(usage.throttled, CpuTime{20});
  // A cgroup made anew counts from zero.
  EXPECT_EQ(usage_between(now, before, {}).throttled, CpuTime{});
}

TEST(VmUsageTest, NamesTheVcpuThatHasNoTwoReadings) {
  const VmSample before = vm_at(100, 100);
  EXPECT_THAT(usage_between(before, vm_at(200, 200), {{0, 1}}).unusable_because,
              HasSubstr("vCPU 1 "));
  EXPECT_THAT(usage_between(before, vm_at(200, 200), {{3}}).unusable_because, HasSubstr("vCPU 3 "));
  EXPECT_THAT(usage_between(before, vm_at(99, 200), {{0}}).unusable_because, HasSubstr("vCPU 0 "));
  EXPECT_THAT(usage_between(before, vm_at(200, 99), {{0}}).unusable_because, HasSubstr("vCPU 0 "));
  VmSample other_thread = vm_at(200, 200);
  other_thread.vcpus[1].tid = 13;
  EXPECT_THAT(usage_between(before, other_thread, {{2}}).unusable_because, HasSubstr("vCPU 2 "));
}

TEST(NodeUsageTest, BusyTimeIsOfAllCpusOfANodeAndAtMostTheEpoch) {
  const Topology topology = tests::equal_nodes(2, 2, 1, 64);
  Sample before;
  Sample now;
  before.cpus = {{CpuId{0}, 100}, {CpuId{1}, 100}, {CpuId{2}, 100}, {CpuId{3}, 100}};
  now.cpus = {{CpuId{0}, 150}, {CpuId{1}, 900}, {CpuId{2}, 100}, {CpuId{3}, 90}};
  const std::vector<NodeBusy> busy = busy_between(topology, &before, now, CpuTime{500});
  EXPECT_EQ(busy[0].busy, CpuTime{550});
  EXPECT_TRUE(busy[0].known);
  EXPECT_FALSE(busy[1].known);  // CPU 3 went backwards
  now.cpus.erase(now.cpus.begin());
  EXPECT_FALSE(busy_between(topology, &before, now, CpuTime{500})[0].known);
  before.cpus.erase(before.cpus.begin() + 1, before.cpus.end());
  EXPECT_FALSE(busy_between(topology, &before, now, CpuTime{500})[1].known);
}

TEST(NodeUsageTest, WithoutAnEarlierReadingNothingIsBusyYet) {
  const Topology topology = tests::equal_nodes(1, 1, 1, 64);
  Sample now;
  now.cpus = {{CpuId{0}, 5000}};
  EXPECT_EQ(busy_between(topology, nullptr, now, CpuTime{500})[0].busy, CpuTime{});
  EXPECT_TRUE(busy_between(topology, nullptr, now, CpuTime{500})[0].known);
}

/// Equal nodes of ten CPUs.
std::vector<NodeBusy> busy_of(const std::vector<std::int64_t>& nodes) {
  std::vector<NodeBusy> busy;
  for (const std::int64_t node : nodes) {
    busy.push_back({CpuTime{node}, true, CpuTime{1000}});
  }
  return busy;
}

TEST(NodeUsageTest, WhatIsNotBoundIsTakenToHaveRunWhereThereIsBusyTime) {
  const std::vector<NodeBusy> busy = busy_of({100, 400});
  EXPECT_THAT(non_vm_time(busy, {CpuTime{50}, CpuTime{250}}, {{{}, CpuTime{100}}}, {}),
              ElementsAre(CpuTime{25}, CpuTime{75}));
  // Never negative, whatever rounding and late readings say.
  EXPECT_THAT(non_vm_time(busy, {CpuTime{150}, CpuTime{0}}, {{{}, CpuTime{900}}}, {}),
              ElementsAre(CpuTime{}, CpuTime{}));
  EXPECT_THAT(non_vm_time({}, {}, {{{}, CpuTime{100}}}, {}), ElementsAre());
}

TEST(NodeUsageTest, WhatOthersUsedBeforeTheyAreTakenToUseStill) {
  const std::vector<NodeBusy> busy = busy_of({100, 400});
  const std::vector<CpuTime> none(2);
  // Others had 400 on node 1, so nearly all of the other 100 is the client's.
  EXPECT_THAT(non_vm_time(busy, none, {{{}, CpuTime{100}}}, {CpuTime{}, CpuTime{400}}),
              ElementsAre(CpuTime{6}, CpuTime{394}));
  // What is more than the rest is where any busy time is left.
  EXPECT_THAT(non_vm_time(busy, none, {{{}, CpuTime{300}}}, {CpuTime{}, CpuTime{400}}),
              ElementsAre(CpuTime{3}, CpuTime{197}));
}

TEST(NodeUsageTest, AClientsUseIsCountedWhereItMayHaveRun) {
  const std::vector<NodeBusy> busy = busy_of({500, 500, 500});
  const std::vector<CpuTime> none(3);
  EXPECT_THAT(non_vm_time(busy, none, {{{0, 1}, CpuTime{900}}}, {}),
              ElementsAre(CpuTime{50}, CpuTime{50}, CpuTime{500}));
  // A client that may have run anywhere has what they leave.
  EXPECT_THAT(non_vm_time(busy, none, {{{}, CpuTime{450}}, {{0, 1}, CpuTime{1000}}}, {}),
              ElementsAre(CpuTime{}, CpuTime{}, CpuTime{50}));
}

TEST(NodeUsageTest, WhatAClientRanIsCountedWhereItsThreadsWereSeen) {
  const std::vector<NodeBusy> busy = busy_of({800, 550});
  const std::vector<CpuTime> none(2);
  // It ran on node 1 only, so all that node 0 is busy with is others'.
  const ClientUse use{{0, 1}, CpuTime{550}, {CpuTime{}, CpuTime{40}}};
  EXPECT_THAT(non_vm_time(busy, none, {use}, {}), ElementsAre(CpuTime{800}, CpuTime{}));
  // Half of it was seen on each; what node 1 was not busy with must have been on node 0.
  const ClientUse halves{{0, 1}, CpuTime{1300}, {CpuTime{20}, CpuTime{20}}};
  EXPECT_THAT(non_vm_time(busy, none, {halves}, {}), ElementsAre(CpuTime{50}, CpuTime{}));
}

TEST(NodeUsageTest, WhereReadingsTellNothingEqualNodesEndWithEqualNonVmTime) {
  // Two clients on two nodes each, all nodes busy: others were on nodes 0 and 2 once.
  const std::vector<NodeBusy> busy = busy_of({1000000, 1000000, 1000000, 1000000});
  const std::vector<CpuTime> bound{CpuTime{}, CpuTime{700000}, CpuTime{}, CpuTime{700000}};
  const std::vector<ClientUse> unbound{{{0, 1}, CpuTime{900000}}, {{2, 3}, CpuTime{900000}}};
  std::vector<CpuTime> others{CpuTime{390000}, CpuTime{10000}, CpuTime{390000}, CpuTime{10000}};
  for (int epoch = 0; epoch < 200; ++epoch) {
    others = non_vm_time(busy, bound, unbound, others);
  }
  for (const CpuTime node : others) {
    EXPECT_NEAR(static_cast<double>(node.value), 200000, 1000);
  }
}

}  // namespace
}  // namespace vmnuma::balancer
