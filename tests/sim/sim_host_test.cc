// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_host.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/orders.h"
#include "balancer/protocol/request.h"
#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using testing::Each;
using testing::ElementsAre;
using Thread = migration::ThreadId::Kind;

constexpr Microseconds kSecond{1'000'000};

class SimHostTest : public testing::Test {
 protected:
  void make(const ScenarioHost& host) {
    host_ = std::make_unique<SimHost>(host, /*seed=*/1, /*prefer_ht=*/false, clock_);
  }
  void run(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds * 5; ++i) {
      host_->run(kSecond / 5);
    }
  }
  /// Pins all vCPUs to a node.
  void pin(const VmId& vm, std::size_t node) {
    for (const std::int32_t vcpu : host_->description(vm).vcpus) {
      ASSERT_TRUE(host_->libvirt().pin({vm}, {Thread::kVcpu, vcpu},
                                       balancer::cpus_of(host_->topology().nodes[node])));
    }
  }
  [[nodiscard]] VmSample sample_of(const VmId& vm) const {
    for (const VmSample& row : host_->sample(1, Microseconds{}).vms) {
      if (row.id == vm) {
        return row;
      }
    }
    return {};
  }
  /// Of all vCPUs, in milliseconds.
  [[nodiscard]] std::int64_t ran(const VmId& vm) const {
    std::int64_t ns = 0;
    for (const VcpuSample& vcpu : sample_of(vm).vcpus) {
      ns += vcpu.run_ns;
    }
    return ns / 1'000'000;
  }
  [[nodiscard]] std::int64_t waited(const VmId& vm) const {
    std::int64_t ns = 0;
    for (const VcpuSample& vcpu : sample_of(vm).vcpus) {
      ns += vcpu.wait_ns;
    }
    return ns / 1'000'000;
  }

  Microseconds clock_;
  std::unique_ptr<SimHost> host_;
};

TEST_F(SimHostTest, CpusAreNumberedAsOnMostMachines) {
  make(small_host(2, /*threads_per_core=*/2));
  const Topology& topology = host_->topology();
  EXPECT_THAT(balancer::cpus_of(topology.nodes[0]),
              ElementsAre(CpuId{0}, CpuId{1}, CpuId{2}, CpuId{3}, CpuId{8}, CpuId{9}, CpuId{10},
                          CpuId{11}));
  EXPECT_EQ(topology.nodes[1].core_count(), 4);
  EXPECT_EQ(topology.nodes[1].cpu_count(), 8);
  EXPECT_EQ(topology.distance(0, 1), 20);
}

TEST_F(SimHostTest, NoTwoThreadsHaveTheSameNumber) {
  make(small_host(1));
  (void)host_->start(busy_vm("a", balancer::kMostVcpus, 0));
  (void)host_->start(busy_vm("b", balancer::kMostVcpus, 0));
  std::set<std::int64_t> numbers;
  for (const VmSample& vm : host_->sample(1, Microseconds{}).vms) {
    EXPECT_TRUE(numbers.insert(vm.process.pid).second);
    for (const VcpuSample& vcpu : vm.vcpus) {
      EXPECT_TRUE(numbers.insert(vcpu.tid).second) << vcpu.tid;
    }
  }
}

TEST_F(SimHostTest, WhatIsWantedIsRunOrWaitedFor) {
  make(small_host(1));
  const VmId vm = host_->start(busy_vm("a", 8, 75));
  run(10);
  EXPECT_EQ(ran(vm), 40'000);  // 4 CPUs for 10 s
  // 2 CPUs do not fit; and when fewer than 4 want to run, which is so for 0.0319 CPUs in the mean,
  // others want to when all CPUs are taken.
  EXPECT_EQ(waited(vm), 20'319);
}

TEST_F(SimHostTest, WhatIsToldAsWaitingIsAlsoWhatRanLater) {
  make(small_host(1));
  const VmId vm = host_->start(busy_vm("a", 8, 50));  // 4 CPUs for 8 threads that want half of one
  run(10);
  EXPECT_EQ(ran(vm), 40'000);
  EXPECT_EQ(host_->take_truth().vms[0].vcpus[0].served, CpuTime{5'000'000});
  // Half of 70 of 256 draws have 5 or more at once: (56 + 2 x 28 + 3 x 8 + 4) / 256 CPUs wait.
  EXPECT_NEAR(static_cast<double>(waited(vm)), 10'000 * 140 / 256.0, 10);
}

TEST_F(SimHostTest, QemusOwnThreadsTakeTheirPartFirst) {
  make(small_host(1));
  ScenarioVm with = busy_vm("a", 4, 100);
  with.qemu = Permille{15};
  const VmId vm = host_->start(with);
  run(10);
  EXPECT_EQ(waited(vm), 600);
  EXPECT_EQ(host_->take_truth().others[0], CpuTime{600'000});
}

TEST_F(SimHostTest, AVmRunsNoLongerThanItsLimitAndIsThrottled) {
  make(small_host(1));
  ScenarioVm limited = busy_vm("a", 4, 100);
  limited.limit_pct = 200;
  const VmId vm = host_->start(limited);
  run(10);
  EXPECT_EQ(ran(vm), 20'000);
  EXPECT_EQ(waited(vm), 20'000);
  EXPECT_EQ(sample_of(vm).throttled_us, 20'000'000);
  EXPECT_EQ(sample_of(vm).quota_permille, 2000);
}

TEST_F(SimHostTest, AThreadThatChangesItsNodeLosesItsCaches) {
  make(small_host(2));
  const VmId vm = host_->start(busy_vm("a", 1, 100));
  pin(vm, 0);
  run(10);
  EXPECT_EQ(host_->take_truth().vms[0].vcpus[0].stalled, CpuTime{});
  pin(vm, 1);
  run(10);
  const CpuTime far{3'000'000};  // all memory is on node 0, at twice the distance
  EXPECT_NEAR(static_cast<double>((host_->take_truth().vms[0].vcpus[0].stalled - far).value), 500,
              200);
}

TEST_F(SimHostTest, TheKernelBringsMemoryToItsThreadsAndTheyPayForIt) {
  make(small_host(2));
  ScenarioVm far = busy_vm("a", 2, 100);
  far.placed_on = {NodeId{0}};
  const VmId vm = host_->start(far);
  pin(vm, 1);
  host_->balance_numa(vm);
  run(60);
  EXPECT_THAT(*sample_of(vm).memory, ElementsAre(Bytes{}, kGiB));
  EXPECT_EQ(host_->audit_memory(), std::nullopt);
  // 512 pages, each with a fault of 10 us and a copy of 400 us.
  (void)host_->take_truth();
  host_->run(kSecond);
  EXPECT_LT(host_->take_truth().vms[0].vcpus[0].stalled, CpuTime{20'000});
}

TEST_F(SimHostTest, TheKernelMovesNoMemoryToANodeThatTheVmsCpusetForbids) {
  make(small_host(2));
  ScenarioVm far = busy_vm("a", 2, 100);
  far.memory_on = {{NodeId{0}, kGiB}};
  far.numatune = NumatuneMode::kRestrictive;
  const VmId vm = host_->start(far);
  pin(vm, 1);
  host_->balance_numa(vm);
  run(60);
  EXPECT_THAT(*sample_of(vm).memory, ElementsAre(kGiB, Bytes{}));
}

TEST_F(SimHostTest, HugePagesComeFromTheNodesPoolsAndTheKernelLeavesThem) {
  ScenarioHost host = small_host(2);
  for (ScenarioNode& node : host.nodes) {
    node.huge_pages = kGiB * 2;
  }
  make(host);
  ScenarioVm far = busy_vm("a", 2, 100);
  far.placed_on = {NodeId{0}};
  far.huge_pages = true;
  const VmId vm = host_->start(far);
  pin(vm, 1);
  host_->balance_numa(vm);
  run(60);
  const Sample sample = host_->sample(1, {});
  EXPECT_THAT(*sample.vms[0].memory, ElementsAre(kGiB, Bytes{}));
  EXPECT_EQ(sample.nodes[0].total - sample.nodes[0].free, kGiB * 2);
  EXPECT_THAT(*sample.nodes[0].huge_pages,
              ElementsAre(HugePagePool{kSimPage, kGiB.value * 2 / kSimPage.value}));
  EXPECT_THAT(host_->kernel().node_memory(NodeId{0})->pools,
              ElementsAre(migration::PoolFree{kSimPage, kGiB.value / kSimPage.value}));
  EXPECT_EQ(host_->description(vm).huge_page_size, kSimPage);
}

TEST_F(SimHostTest, UnpinnedThreadsSpreadOverTheNodes) {
  make(small_host(2));
  const VmId vm = host_->start(busy_vm("a", 8, 100));
  run(10);
  EXPECT_EQ(ran(vm), 80'000);
  EXPECT_EQ(waited(vm), 0);
}

TEST_F(SimHostTest, PinnedThreadsStayAndCompeteByShares) {
  make(small_host(2));
  ScenarioVm heavy = busy_vm("heavy", 4, 100);
  heavy.shares = 3072;
  const VmId a = host_->start(heavy);
  const VmId b = host_->start(busy_vm("b", 4, 100));
  pin(a, 1);
  pin(b, 1);
  run(10);
  EXPECT_NEAR(static_cast<double>(ran(a)), 30'000, 10);
  EXPECT_NEAR(static_cast<double>(ran(b)), 10'000, 10);
}

TEST_F(SimHostTest, MemoryIsTouchedWhereTheThreadsRun) {
  make(small_host(2));
  const VmId vm = host_->start(busy_vm("a", 2, 100));
  pin(vm, 1);
  run(10);
  EXPECT_THAT(*sample_of(vm).memory, ElementsAre(Bytes{}, kGiB));
  EXPECT_EQ(host_->sample(1, {}).nodes[1].free, kGiB * 7);
  EXPECT_EQ(host_->audit_memory(), std::nullopt);
}

TEST_F(SimHostTest, AnIdleVmTouchesNothing) {
  make(small_host(1));
  const VmId vm = host_->start(busy_vm("a", 2, 0));
  run(10);
  EXPECT_THAT(*sample_of(vm).memory, ElementsAre(Bytes{}));
}

TEST_F(SimHostTest, AVmStartsUnpinnedWhereverItsMemoryLies) {
  make(small_host(2));
  ScenarioVm vm = busy_vm("a", 8, 100);
  vm.placed_on = {NodeId{1}};
  const VmId id = host_->start(vm);
  EXPECT_TRUE(host_->description(id).vcpu_pins.empty());
  EXPECT_TRUE(host_->description(id).emulator_pin.empty());
  EXPECT_THAT(*sample_of(id).memory, ElementsAre(Bytes{}, kGiB));
  run(1);
  EXPECT_THAT(host_->vcpus_on(id), ElementsAre(4, 4));
}

TEST_F(SimHostTest, AVmIsFoundPinnedOnlyWhereTheScenarioSaysSo) {
  make(small_host(2));
  ScenarioVm wide = busy_vm("wide", 8, 50);  // two clients of four
  wide.pinned_on = {NodeId{1}, NodeId{0}};
  const VmId vm = host_->start(wide);
  const VmDescription& description = host_->description(vm);
  ASSERT_EQ(description.vcpu_pins.size(), 8U);
  EXPECT_EQ(description.vcpu_pins[0].cpus, balancer::cpus_of(host_->topology().nodes[1]));
  EXPECT_EQ(description.vcpu_pins[7].cpus, balancer::cpus_of(host_->topology().nodes[0]));
  EXPECT_EQ(description.emulator_pin.size(), 8U);
  EXPECT_THAT(*sample_of(vm).memory, ElementsAre(kGiB / 2, kGiB / 2));
}

TEST_F(SimHostTest, BoundMemoryNeverSpills) {
  make(small_host(2));
  ScenarioVm bound = busy_vm("bound", 4, 100);
  bound.memory = kGiB * 12;
  bound.memory_on = {{NodeId{0}, kGiB}};
  bound.numatune = NumatuneMode::kStrict;
  const VmId vm = host_->start(bound);
  pin(vm, 1);
  run(60);
  EXPECT_THAT(*sample_of(vm).memory, ElementsAre(kGiB * 8, Bytes{}));
}

TEST_F(SimHostTest, FarMemoryCostsTimeInProportionToDistanceAndShare) {
  make(small_host(2));
  ScenarioVm far = busy_vm("far", 1, 100);
  far.memory_on = {{NodeId{0}, kGiB / 2}, {NodeId{1}, kGiB / 2}};
  far.pinned_on = {NodeId{1}};
  const VmId vm = host_->start(far);
  run(1);
  const EpochTruth truth = host_->take_truth();
  ASSERT_EQ(truth.vms.size(), 1U);
  EXPECT_EQ(truth.vms[0].id, vm);
  const VcpuTruth& vcpu = truth.vms[0].vcpus[0];
  EXPECT_EQ(vcpu.served, CpuTime{1'000'000});
  EXPECT_EQ(vcpu.stalled, CpuTime{150'000});  // 0.3 of it, half of the memory, (20 - 10) / 10
}

TEST_F(SimHostTest, AVcpuOfAGuestCellOnlySuffersFromItsOwnMemory) {
  make(small_host(2));
  ScenarioVm cells = busy_vm("cells", 2, 100);
  cells.cells = 2;
  cells.memory_on = {{NodeId{0}, kGiB}};
  const VmId vm = host_->start(cells);
  ASSERT_TRUE(host_->libvirt().pin({vm}, {Thread::kVcpu, 0},
                                   balancer::cpus_of(host_->topology().nodes[0])));
  ASSERT_TRUE(host_->libvirt().pin({vm}, {Thread::kVcpu, 1},
                                   balancer::cpus_of(host_->topology().nodes[1])));
  run(1);
  const EpochTruth truth = host_->take_truth();
  EXPECT_EQ(truth.vms[0].vcpus[0].stalled, CpuTime{});
  EXPECT_EQ(truth.vms[0].vcpus[1].stalled, CpuTime{300'000});
}

TEST_F(SimHostTest, ThreadsOfANodeWithoutCpusRunElsewhere) {
  make(small_host(2));
  ScenarioVm placed = busy_vm("a", 4, 100);
  placed.pinned_on = {NodeId{1}};
  const VmId vm = host_->start(placed);
  host_->set_online(NodeId{1}, false);
  EXPECT_TRUE(host_->topology().nodes[1].cpus.empty());
  run(1);
  EXPECT_EQ(ran(vm), 4'000);
  EXPECT_EQ(host_->take_truth().vms[0].vcpus[0].node, 0U);
  host_->set_online(NodeId{1}, true);
  run(1);
  EXPECT_EQ(host_->take_truth().vms[0].vcpus[0].node, 1U);
}

TEST_F(SimHostTest, SomeCoresOfANodeCanGo) {
  make(small_host(2));
  const std::vector<Cpu> all = host_->topology().nodes[1].cpus;
  const std::int32_t cores = host_->topology().nodes[1].core_count();
  host_->take_cores(NodeId{1}, 1);
  EXPECT_EQ(host_->topology().nodes[1].core_count(), cores - 1);
  EXPECT_EQ(host_->topology().nodes[1].cpus.front(), all.front());
  host_->set_online(NodeId{1}, true);
  EXPECT_EQ(host_->topology().nodes[1].cpus, all);
  for (const std::int32_t taken : {0, cores, cores + 1}) {
    host_->take_cores(NodeId{1}, taken);
    EXPECT_TRUE(host_->topology().nodes[1].cpus.empty());
  }
}

TEST_F(SimHostTest, CpuTimesAddUpToWhatWasUsedAndNeverGoBack) {
  make(small_host(1));
  (void)host_->start(busy_vm("a", 3, 33));
  std::vector<std::int64_t> before(4);
  for (int i = 0; i < 20; ++i) {
    host_->run(Microseconds{7'777});
    std::int64_t sum = 0;
    const Sample sample = host_->sample(1, Microseconds{});
    ASSERT_EQ(sample.cpus.size(), 4U);
    for (std::size_t cpu = 0; cpu < 4; ++cpu) {
      EXPECT_GE(sample.cpus[cpu].busy_us, before[cpu]);
      before[cpu] = sample.cpus[cpu].busy_us;
      sum += before[cpu];
    }
    EXPECT_EQ(sum, (i + 1) * 3 * (7'777 * 33 / 100));
  }
}

TEST_F(SimHostTest, OthersUseTheirCpusWhenTheirTimeComes) {
  ScenarioHost host = small_host(1);
  host.others = {{NodeId{0}, 2, 3, 150}};
  make(host);
  for (const std::int64_t epoch : {1, 2, 3}) {
    host_->begin_epoch(epoch);
    run(1);
    EXPECT_EQ(host_->take_truth().others[0], CpuTime{epoch == 2 ? 1'500'000 : 0}) << epoch;
  }
}

TEST_F(SimHostTest, OthersOfNoNodeRunWhereCpusAreIdle) {
  ScenarioHost host = small_host(2);
  host.others = {{std::nullopt, 0, std::nullopt, 300}};
  make(host);
  ScenarioVm pinned = busy_vm("a", 3, 100);
  pinned.pinned_on = {NodeId{0}};
  host_->start(pinned);
  host_->begin_epoch(1);
  run(1);
  EpochTruth truth = host_->take_truth();
  EXPECT_EQ(truth.others[0], CpuTime{});
  EXPECT_EQ(truth.others[1], CpuTime{3'000'000});
  EXPECT_EQ(truth.roaming[1], CpuTime{3'000'000});

  // Now two CPUs are idle for the three that they want.
  pinned.name = "b";
  pinned.vcpus = 1;
  host_->start(pinned);
  pinned.name = "c";
  pinned.vcpus = 2;
  pinned.pinned_on = {NodeId{1}};
  host_->start(pinned);
  host_->begin_epoch(2);
  run(1);
  truth = host_->take_truth();
  EXPECT_NEAR(static_cast<double>(truth.others[1].value), 2'500'000, 100'000);
  EXPECT_EQ(truth.others[0] + truth.others[1], CpuTime{3'000'000});
}

TEST_F(SimHostTest, NoiseStaysWithinItsBoundsAndDependsOnTheSeedOnly) {
  ScenarioVm noisy = busy_vm("a", 1, 50);
  noisy.noise_pct = 10;
  const auto loads = [&](std::uint64_t seed) {
    SimHost host(small_host(1), seed, false, clock_);
    (void)host.start(noisy);
    std::vector<std::int64_t> wanted;
    for (std::int64_t epoch = 0; epoch < 50; ++epoch) {
      host.begin_epoch(epoch);
      host.run(kSecond);
      wanted.push_back(host.take_truth().vms[0].vcpus[0].wanted.value);
    }
    return wanted;
  };
  const std::vector<std::int64_t> first = loads(1);
  EXPECT_EQ(first, loads(1));
  EXPECT_NE(first, loads(2));
  EXPECT_THAT(first, Each(testing::AllOf(testing::Ge(400'000), testing::Le(600'000))));
}

TEST_F(SimHostTest, ARefusedPinChangesNothingAndPinningAsBeforeIsNotRefused) {
  make(small_host(2));
  const VmId vm = host_->start(busy_vm("a", 2, 50));
  pin(vm, 0);
  host_->set(vm, &SimVm::refuses_pins, true);
  const auto there = balancer::cpus_of(host_->topology().nodes[1]);
  const auto here = balancer::cpus_of(host_->topology().nodes[0]);
  EXPECT_TRUE(host_->libvirt().pin({vm}, {Thread::kVcpu, 0}, there));
  EXPECT_EQ(host_->libvirt().pin({vm}, {Thread::kVcpu, 1}, there).error().code,
            ErrorCode::kPermissionDenied);
  EXPECT_EQ(host_->description(vm).vcpu_pins[1].cpus, here);
  EXPECT_TRUE(host_->libvirt().pin({vm}, {Thread::kVcpu, 1}, here));
}

TEST_F(SimHostTest, PinsTakeTimeAndMoreOfItWhileLibvirtIsSlow) {
  make(small_host(1));
  const VmId vm = host_->start(busy_vm("a", 1, 50));
  pin(vm, 0);
  const Microseconds usual = clock_;
  EXPECT_GT(usual, Microseconds{});
  host_->libvirt().slow_down(true);
  pin(vm, 0);
  EXPECT_GT(clock_ - usual, usual * 100);
}

}  // namespace
}  // namespace vmnuma::tools
