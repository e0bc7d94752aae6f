// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using tests::kCpu;
using tests::SnapshotBuilder;
using tests::VmSpec;

// One vCPU, always busy, on node 0 of two. Far memory takes twice as long (distance 20), the VM
// waits for memory 30 % of its time: with all memory far it loses 0.3 of a CPU, 600'000 us.
constexpr CpuTime kAllFar{600'000};

struct Case {
  explicit Case(const VmSpec& spec, const Options& with = options_of(Preset::kEsxi))
      : options(with) {
    snapshot = SnapshotBuilder().nodes(2, {.memory_gib = 64}).options(with).vm(spec).build();
    profile = memory_profile(snapshot, snapshot.clients[0], options);
  }
  [[nodiscard]] MemoryCost at(NodeIndex node, Bytes room = kGiB * 60) const {
    return memory_cost(snapshot, snapshot.clients[0], profile, node, room, options);
  }
  [[nodiscard]] CpuTime now_at(NodeIndex node) const {
    return present_loss(snapshot, snapshot.clients[0], profile, node, options);
  }
  Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  Snapshot snapshot;
  MemoryProfile profile;
};

TEST(MemoryCostTest, TellsWhereMemoryLies) {
  const Case split({.memory_gib = {3, 1}});
  EXPECT_EQ(split.profile.resident, kGiB * 4);
  EXPECT_EQ(split.profile.on(0), kGiB * 3);
  EXPECT_EQ(split.profile.not_on(0), kGiB);
  EXPECT_EQ(split.profile.locality(0), Permille{750});
  EXPECT_EQ(split.profile.on(5), Bytes{});
  EXPECT_EQ(MemoryProfile{}.locality(0), Permille{1000});
}

TEST(MemoryCostTest, LosesInProportionToDemandShareAndDistance) {
  EXPECT_EQ(Case({.memory_gib = {0, 4}}).now_at(0), kAllFar);
  EXPECT_EQ(Case({.memory_gib = {3, 1}}).now_at(0), kAllFar / 4);
  EXPECT_EQ(Case({.vcpus = 2, .memory_gib = {0, 4}}).now_at(0), kAllFar * 2);
  EXPECT_EQ(Case({.busy_pct = 50, .memory_gib = {0, 4}}).now_at(0), kAllFar / 2);
  Case far({.memory_gib = {0, 4}});
  far.snapshot.topology.distances = {10, 32, 32, 10};
  EXPECT_EQ(far.now_at(0), kAllFar * 22 / 10);
}

TEST(MemoryCostTest, LosesNothingWhereAllIsLocal) {
  const Case local({.memory_gib = {4, 0}});
  EXPECT_EQ(local.now_at(0), CpuTime{});
  EXPECT_EQ(local.at(0), MemoryCost{});
}

TEST(MemoryCostTest, SiblingsApartLoseToEachOtherInProportionToTheirVcpus) {
  const Case wide({.homes = {0, 1, 1, 1}, .vcpus = 2, .shares_memory = true});
  ASSERT_TRUE(is_one_memory(wide.snapshot.vms[0]));
  const auto lost = [&](CpuTime demand_of_a, NodeIndex node_of_b) {
    return lost_between(wide.snapshot, {0, 0, demand_of_a}, {1, node_of_b, kCpu},
                        vcpus_of(wide.snapshot, wide.snapshot.vms.front()), wide.options);
  };
  // A quarter of the memory is the other's, both ways.
  EXPECT_EQ(lost(kCpu * 3, 1), kAllFar);
  EXPECT_EQ(lost(kCpu * 7, 1), kAllFar * 2);
  EXPECT_EQ(lost(kCpu * 3, 0), CpuTime{});
}

TEST(MemoryCostTest, NoMemoryIsSharedByOneClientOrBeforeTheVmIsMeasured) {
  EXPECT_FALSE(is_one_memory(Case({.shares_memory = true}).snapshot.vms[0]));
  EXPECT_FALSE(is_one_memory(
      Case({.homes = {0, 1}, .shares_memory = true, .measured = false}).snapshot.vms[0]));
  EXPECT_FALSE(is_one_memory(Case({.homes = {0, 1}}).snapshot.vms[0]));
}

TEST(MemoryCostTest, WeighsLocalityAsTold) {
  Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  options.locality_weight_mem = 3;
  EXPECT_EQ(Case({.memory_gib = {0, 4}}, options).now_at(0), kAllFar * 3);
  options.locality_weight_mem = 0;
  EXPECT_EQ(Case({.memory_gib = {0, 4}}, options).now_at(0), CpuTime{});
}

TEST(MemoryCostTest, TheStallShareAndTheVmsWeightArePricesOfRemoteMemory) {
  Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  options.mem_stall_pct = 15;
  EXPECT_EQ(Case({.memory_gib = {0, 4}}, options).now_at(0), kAllFar / 2);
  VmPolicy twice;
  twice.locality_weight_pct = 200;
  EXPECT_EQ(Case({.memory_gib = {0, 4}, .policy = twice}, options).now_at(0), kAllFar);
}

TEST(MemoryCostTest, WhatAVmsCpusCountedIsItsPriceWithinBounds) {
  Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  const auto far = [&](std::int64_t counted) {
    return Case({.memory_gib = {0, 4}, .counted_stall = Permille{counted}}, options).now_at(0);
  };
  EXPECT_EQ(far(300), kAllFar);
  EXPECT_EQ(far(150), kAllFar / 2);
  EXPECT_EQ(far(600), kAllFar * 2);
  EXPECT_EQ(far(0), kAllFar / 4);  // it may do something else tomorrow
  options.mem_stall_pct = 10;
  EXPECT_EQ(far(900), kAllFar * 4 / 3);  // four times a third of kAllFar
  VmPolicy twice;
  twice.locality_weight_pct = 200;
  EXPECT_EQ(Case({.memory_gib = {0, 4}, .policy = twice, .counted_stall = Permille{150}}, options)
                .now_at(0),
            kAllFar);
}

TEST(MemoryCostTest, NoVmWaitsForLongerThanItRuns) {
  Options options;
  options.mem_stall_pct = 100;
  EXPECT_EQ(stall_of({}, Permille{1000}, options), Permille{1000});
  VmPolicy thrice;
  thrice.locality_weight_pct = 300;
  EXPECT_EQ(stall_of(thrice, Permille{900}, options), Permille{1000});
}

TEST(MemoryCostTest, LosesWhileMemoryTravelsAndThenNoMore) {
  // 1 GiB at 32000 pages/s is 4.096 epochs, half of it far on average: 600'000 x 4.096 / 2; and
  // 1024 MiB x 500 us of copying.
  const MemoryCost cost = Case({.memory_gib = {1, 0}}).at(1);
  EXPECT_EQ(cost.standing, CpuTime{});
  EXPECT_EQ(cost.to_move, kGiB);
  EXPECT_EQ(cost.travel, CpuTime{1'228'800 + 512'000});
  EXPECT_TRUE(cost.fits);
}

TEST(MemoryCostTest, CountsNothingBeyondTheHorizon) {
  // 16 GiB take 65.5 epochs; 30 count. Far on average in them: 1 - 30 / 131 of it, 23.134 epochs;
  // 7500 MiB are copied in them.
  EXPECT_EQ(Case({.memory_gib = {16, 0}}).at(1).travel, CpuTime{600 * 23'134 + 7500 * 500});
}

TEST(MemoryCostTest, TravelsInNoTimeWithoutALimit) {
  Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  options.page_mig_rate_max = 0;
  EXPECT_EQ(Case({.memory_gib = {1, 0}}, options).at(1).travel, CpuTime{512'000});
}

TEST(MemoryCostTest, TravelsAtTheLowerOfTheRatesOfTheHostAndOfAVm) {
  const auto travel = [](std::int64_t host, std::int64_t vm) {
    Options options = options_of(Preset::kEsxi);
    options.page_mig_rate_max = host;
    options.page_mig_vm_rate_max = vm;
    return Case({.memory_gib = {1, 0}}, options).at(1).travel;
  };
  EXPECT_EQ(travel(4000, 0), travel(0, 4000));
  EXPECT_EQ(travel(4000, 0), travel(4000, 32000));
  EXPECT_EQ(travel(4000, 0), travel(32000, 4000));
  EXPECT_LT(travel(32000, 0), travel(4000, 0));
}

TEST(MemoryCostTest, LeavesForGoodWhatFindsNoRoom) {
  const MemoryCost cost = Case({.memory_gib = {1, 0}}).at(1, kGiB / 2);
  EXPECT_FALSE(cost.fits);
  EXPECT_EQ(cost.to_move, kGiB / 2);
  EXPECT_EQ(cost.standing, kAllFar / 2);
  EXPECT_EQ(Case({.memory_gib = {1, 0}}).at(1, Bytes{-5}).standing, kAllFar);
}

TEST(MemoryCostTest, LosesForGoodWhereMemoryCannotFollow) {
  const MemoryCost stays{kAllFar, CpuTime{}, Bytes{}, true};
  EXPECT_EQ(Case({.memory_gib = {1, 0}, .memory_stays_because = "VFIO"}).at(1), stays);
  Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  options.page_mig_enable = 0;
  EXPECT_EQ(Case({.memory_gib = {1, 0}}, options).at(1), stays);
  Case unknown({.memory_gib = {1, 0}});
  unknown.snapshot.clients[0].memory_known = false;
  EXPECT_FALSE(
      memory_profile(unknown.snapshot, unknown.snapshot.clients[0], unknown.options).can_follow);
}

TEST(MemoryCostTest, CostsStayingWhatComesHome) {
  // 1 of 4 GiB is far and comes home: a quarter of the loss for 4.096 / 2 epochs, and copying.
  const MemoryCost cost = Case({.memory_gib = {3, 1}}).at(0);
  EXPECT_EQ(cost.standing, CpuTime{});
  EXPECT_EQ(cost.travel, CpuTime{1'228'800 / 4 + 512'000});
}

TEST(MemoryCostTest, NeedsNoMemoryAtAll) {
  const Case none({.memory_gib = {0, 0}});
  EXPECT_EQ(none.at(1), MemoryCost{});
  EXPECT_EQ(none.now_at(1), CpuTime{});
}

}  // namespace
}  // namespace vmnuma
