// SPDX-License-Identifier: Apache-2.0
/// Advice for single VMs. The first table holds it against VMware's public documentation.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/advice/advice.h"
#include "placement/advice/common_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using tests::equal_nodes;

VmDescription plain_vm(std::int32_t vcpus, Bytes memory) {
  VmDescription vm;
  vm.name = "guest";
  vm.vcpus.resize(static_cast<std::size_t>(vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_vcpus = vcpus;
  vm.memory = vm.max_memory = memory;
  return vm;
}

Advice advice_for(const VmDescription& vm, const Topology& topology) {
  const auto advice = advise({.vm = vm}, {.topology = topology});
  EXPECT_TRUE(advice.has_value()) << advice.error().message;
  return advice.value_or(Advice{});
}

std::vector<std::size_t> vcpus_of_cells(const Advice& advice) {
  std::vector<std::size_t> sizes;
  for (const GuestCell& cell : advice.cells) {
    sizes.push_back(cell.vcpus.size());
  }
  return sizes;
}

/// "2x6x1": sockets, cores, threads.
std::string shape_of(const Advice& advice) {
  return std::to_string(advice.sockets) + "x" + std::to_string(advice.cores) + "x" +
         std::to_string(advice.threads);
}

/// What VMware's pages say of a VM's virtual NUMA nodes, by an example or by a rule.
struct WorkedExample {
  std::string_view source;
  std::int32_t nodes;
  std::int32_t cores;
  std::int32_t threads;
  std::int32_t vcpus;
  bool prefer_ht;
  std::vector<std::size_t> cells;  ///< empty: none
  std::string_view shape;
};

constexpr std::string_view kConstructs =
    "frankdenneman.nl, NUMA Deep Dive Part 5: ESXi VMkernel NUMA Constructs, 2016-08-22 (page "
    "2016-08-22-numa-deep-dive-part-5-esxi-vmkernel-numa-constructs of frankdenneman.github.io)";
constexpr std::string_view kMismatch =
    "frankdenneman.nl, Solving vNUMA Topology Mismatch, 2022-03-11 (page 2022/03/11/"
    "solving-vnuma-topology-mismatch-when-migrating-between-dual-socket-servers-and-quad-socket-"
    "servers)";
constexpr std::string_view kRightsizing =
    "blogs.vmware.com, Virtual Machine vCPU and vNUMA Rightsizing, 2017-03, rules 3 and 4";
constexpr std::string_view kControls =
    "vSphere Resource Management, Virtual NUMA Controls: numa.vcpu.preferHT";
constexpr std::string_view kUsing =
    "vSphere Resource Management 6.5, Using Virtual NUMA (page "
    "GUID-17B629DE-75DF-4C23-B831-08107007FBB9)";

TEST(AdviseTest, AgreesWithTheExamplesAndRulesOfThePublicDocumentation) {
  const WorkedExample examples[] = {
      {kConstructs, 2, 10, 2, 12, false, {6, 6}, "2x6x1"},
      {kConstructs, 2, 10, 2, 10, false, {}, "1x10x1"},
      {kRightsizing, 2, 6, 2, 10, false, {5, 5}, "2x5x1"},
      {kMismatch, 2, 20, 2, 36, false, {18, 18}, "2x18x1"},
      {kMismatch, 4, 14, 2, 36, false, {12, 12, 12}, "3x12x1"},
      {kControls, 2, 10, 2, 16, true, {}, "1x16x1"},
      {kControls, 2, 10, 2, 16, false, {8, 8}, "2x8x1"},
      // Odd ones are advised against. The nodes differ by one, and no socket would fit both.
      {kRightsizing, 2, 10, 2, 11, false, {6, 5}, "11x1x1"},
      {kRightsizing, 2, 10, 2, 9, false, {}, "1x9x1"},
      // Cores per socket, here one, have had no say since 6.5.
      {kUsing, 2, 8, 2, 16, false, {8, 8}, "2x8x1"},
  };
  for (const WorkedExample& example : examples) {
    VmDescription vm = plain_vm(example.vcpus, kGiB * 32);
    vm.sockets = example.vcpus;
    vm.dies = vm.cores = vm.threads = 1;
    vm.policy.prefer_ht = example.prefer_ht;
    const Advice advice =
        advice_for(vm, equal_nodes(example.nodes, example.cores, example.threads, 64));
    EXPECT_EQ(vcpus_of_cells(advice), example.cells) << example.source << ", " << example.vcpus;
    EXPECT_EQ(shape_of(advice), example.shape) << example.source << ", " << example.vcpus;
  }
}

TEST(AdviseTest, TellsAVmBelowNineVcpusOfItsNodesToo) {
  // ESXi does from nine on (numa.vcpu.min): guests of before could not use them.
  EXPECT_THAT(vcpus_of_cells(advice_for(plain_vm(6, kGiB * 8), equal_nodes(2, 4, 1, 16))),
              ElementsAre(3, 3));
}

TEST(AdviseTest, KeepsAVmWithMoreMemoryThanANodeTogetherUnlessToldOtherwise) {
  // vSphere 8 Resource Management, Using Virtual NUMA: the configured memory has no say.
  VmDescription vm = plain_vm(4, kGiB * 100);
  EXPECT_THAT(advice_for(vm, equal_nodes(2, 8, 1, 64)).cells, IsEmpty());
  vm.policy.consolidate = false;
  const Advice advice = advice_for(vm, equal_nodes(2, 8, 1, 64));
  EXPECT_THAT(vcpus_of_cells(advice), ElementsAre(2, 2));
  EXPECT_EQ(advice.cells[0].memory, kGiB * 50);
}

TEST(AdviseTest, SharesMemoryByVcpusInWholePages) {
  VmDescription vm = plain_vm(5, kGiB * 10);
  vm.huge_page_size = kGiB;
  // 10 pages: one each and 8 more by 3 : 2, rounded down 4 : 3; the one left goes to the first.
  const Advice advice = advice_for(vm, equal_nodes(2, 4, 1, 64));
  EXPECT_EQ(advice.cells[0].memory, kGiB * 6);
  EXPECT_EQ(advice.cells[1].memory, kGiB * 4);
  EXPECT_EQ(advice.memory, kGiB * 10);
}

TEST(AdviseTest, RoundsUpToWholeHugePages) {
  VmDescription vm = plain_vm(8, kGiB + kMiB);
  vm.huge_page_size = kGiB;
  EXPECT_EQ(advice_for(vm, equal_nodes(2, 4, 1, 64)).memory, kGiB * 2);
}

TEST(AdviseTest, CountsVcpusThatAreNotPluggedYet) {
  VmDescription vm = plain_vm(12, kGiB * 8);
  vm.vcpus.resize(2);
  EXPECT_THAT(vcpus_of_cells(advice_for(vm, equal_nodes(2, 10, 1, 64))), ElementsAre(6, 6));
}

TEST(AdviseTest, MakesACellWhereMemoryCanBePlugged) {
  const auto advice = advise({.vm = plain_vm(2, kGiB * 4), .memory_hotplug = true},
                             {.topology = equal_nodes(2, 4, 1, 64)});
  EXPECT_THAT(advice->cells, SizeIs(1));
}

TEST(AdviseTest, ShowsThreadsOnlyToVmsThatHaveWholeCores) {
  VmDescription vm = plain_vm(4, kGiB * 4);
  EXPECT_EQ(shape_of(advice_for(vm, equal_nodes(2, 8, 2, 64))), "1x4x1");
  vm.policy.cpu_binding = CpuBinding::kExclusive;
  vm.policy.cpu_policy = CpuPolicy::kFullPCPUs;
  EXPECT_EQ(shape_of(advice_for(vm, equal_nodes(2, 8, 2, 64))), "1x2x2");
  EXPECT_EQ(shape_of(advice_for(vm, equal_nodes(2, 8, 1, 64))), "1x4x1");
  EXPECT_EQ(shape_of(advice_for(plain_vm(3, kGiB * 4), equal_nodes(2, 8, 2, 64))), "1x3x1");
}

TEST(AdviseTest, ShowsThreadsWhereVcpusArePinnedToThem) {
  const Topology topology = equal_nodes(2, 2, 2, 64);
  VmDescription vm = plain_vm(4, kGiB * 4);
  const std::vector<Cpu>& cpus = topology.nodes[0].cpus;
  ASSERT_EQ(cpus.size(), 4U);
  std::vector<CpuId> by_core;
  for (const Cpu& cpu : cpus) {
    if (cpu.core == cpus.front().core) {
      by_core.push_back(cpu.id);
    }
  }
  for (const Cpu& cpu : cpus) {
    if (cpu.core != cpus.front().core) {
      by_core.push_back(cpu.id);
    }
  }
  for (std::int32_t vcpu = 0; vcpu < 4; ++vcpu) {
    vm.vcpu_pins.push_back({vcpu, {by_core[static_cast<std::size_t>(vcpu)]}});
  }
  EXPECT_EQ(advice_for(vm, topology).threads, 2);
  std::swap(vm.vcpu_pins[1].cpus, vm.vcpu_pins[2].cpus);
  EXPECT_EQ(advice_for(vm, topology).threads, 1);
}

TEST(AdviseTest, SaysWhatShowsThreadsToGuestsOnAmd) {
  const AdviceHost host{.topology = equal_nodes(2, 8, 2, 64)};
  const auto whats = [&host](const VmDescription& vm, bool is_x86) {
    const auto advice = advise({.vm = vm, .is_x86 = is_x86}, host);
    std::vector<std::string> found;
    for (const AdviceLine& line : advice->lines) {
      found.push_back(line.what);
    }
    return found;
  };
  VmDescription vm = plain_vm(4, kGiB * 4);
  EXPECT_THAT(whats(vm, true), Each(Not(HasSubstr("topoext"))));
  vm.policy.cpu_binding = CpuBinding::kExclusive;
  vm.policy.cpu_policy = CpuPolicy::kFullPCPUs;
  EXPECT_THAT(whats(vm, true), Contains(HasSubstr("topoext")));
  EXPECT_THAT(whats(vm, false), Each(Not(HasSubstr("topoext"))));
}

/// Two nodes of eight cores, of which four each share a last-level cache.
Topology nodes_of_two_caches(std::int32_t threads = 1) {
  Topology topology = equal_nodes(2, 8, threads, 64);
  for (Node& node : topology.nodes) {
    for (Cpu& cpu : node.cpus) {
      cpu.last_level_cache = cpu.core / 4;
    }
  }
  return topology;
}

/// Each vCPU to the CPU of its number, beginning with `first`.
VmDescription pinned_vm(std::int32_t vcpus, std::int32_t first) {
  VmDescription vm = plain_vm(vcpus, kGiB * 8);
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpu_pins.push_back({vcpu, {CpuId{first + vcpu}}});
  }
  return vm;
}

std::string advice_text_about(const Advice& advice, AdviceAbout about) {
  std::string text;
  for (const AdviceLine& line : advice.lines) {
    text += line.about == about ? line.what + ": " + line.reason + "\n" : "";
  }
  return text;
}

TEST(AdviseTest, SaysNothingOfCachesWhereVcpusHaveNoneOfTheirOwn) {
  for (const std::int32_t vcpus : {2, 8, 12}) {
    const Advice advice = advice_for(plain_vm(vcpus, kGiB * 8), nodes_of_two_caches());
    EXPECT_FALSE(advice.shows_cache);
    EXPECT_EQ(advice.dies, 1);
    EXPECT_THAT(advice_text_about(advice, AdviceAbout::kCache),
                HasSubstr("several last-level caches"));
    EXPECT_THAT(advice_text_about(advice, AdviceAbout::kTopology), Not(HasSubstr("cache")));
    EXPECT_TRUE(advice_for(plain_vm(vcpus, kGiB * 8), equal_nodes(2, 8, 1, 64)).shows_cache);
  }
}

TEST(AdviseTest, MakesADieOfVcpusThatArePinnedToACache) {
  const Advice advice = advice_for(pinned_vm(8, 8), nodes_of_two_caches());
  EXPECT_TRUE(advice.shows_cache);
  EXPECT_EQ(shape_of(advice), "1x4x1");
  EXPECT_EQ(advice.dies, 2);
  EXPECT_THAT(advice_text_about(advice, AdviceAbout::kTopology),
              HasSubstr("1 socket of 2 dies of 4 cores"));
  EXPECT_THAT(advice_text_about(advice, AdviceAbout::kCache),
              HasSubstr("one L3 cache for each die"));
  // Both threads of four cores: one cache.
  EXPECT_EQ(advice_for(pinned_vm(8, 0), nodes_of_two_caches(2)).dies, 1);
  EXPECT_TRUE(advice_for(pinned_vm(8, 0), nodes_of_two_caches(2)).shows_cache);
  const Advice threads = advice_for(pinned_vm(16, 0), nodes_of_two_caches(2));
  EXPECT_EQ(shape_of(threads), "1x4x2");
  EXPECT_EQ(threads.dies, 2);
}

TEST(AdviseTest, MakesNoDiesOfPinsThatAreNotEven) {
  VmDescription vm = pinned_vm(8, 8);
  std::swap(vm.vcpu_pins[3].cpus, vm.vcpu_pins[4].cpus);
  EXPECT_FALSE(advice_for(vm, nodes_of_two_caches()).shows_cache);
  EXPECT_FALSE(advice_for(pinned_vm(6, 8), nodes_of_two_caches()).shows_cache);
  vm = pinned_vm(8, 8);
  vm.vcpu_pins.pop_back();
  EXPECT_FALSE(advice_for(vm, nodes_of_two_caches()).shows_cache);
  vm.default_pin = {CpuId{15}};
  EXPECT_EQ(advice_for(vm, nodes_of_two_caches()).dies, 2);
  // A die is of more than one core.
  vm = pinned_vm(2, 3);
  EXPECT_FALSE(advice_for(vm, nodes_of_two_caches()).shows_cache);
}

TEST(AdviseTest, MakesNoDiesWhereQemuHasNone) {
  const auto advice =
      advise({.vm = pinned_vm(8, 8), .is_x86 = false}, {.topology = nodes_of_two_caches()});
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->dies, 1);
  EXPECT_FALSE(advice->shows_cache);
}

TEST(AdviseTest, TellsAVmThatIsConfinedToACacheOfIt) {
  VmDescription vm = plain_vm(4, kGiB * 8);
  vm.policy.cpu_binding = CpuBinding::kShare;
  EXPECT_TRUE(advice_for(vm, nodes_of_two_caches()).shows_cache);
  vm = plain_vm(5, kGiB * 8);
  vm.policy.cpu_binding = CpuBinding::kShare;
  EXPECT_FALSE(advice_for(vm, nodes_of_two_caches()).shows_cache);
}

TEST(AdviseTest, TellsDistancesOfTheNearestNodesWhereTheyAreNotWhatGuestsAssume) {
  Topology ring = equal_nodes(4, 4, 1, 64);
  // 0 - 1 near each other, 2 - 3 nearer.
  ring.distances = {10, 14, 30, 30,  //
                    14, 10, 30, 30,  //
                    30, 30, 10, 12,  //
                    30, 30, 12, 10};
  EXPECT_THAT(advice_for(plain_vm(8, kGiB * 8), ring).distances, ElementsAre(10, 12, 12, 10));
  EXPECT_THAT(advice_for(plain_vm(8, kGiB * 8), equal_nodes(4, 4, 1, 64)).distances, IsEmpty());
}

TEST(AdviseTest, BindsCellsOfMemoryThatCannotMoveToTheNodesOfTheDevice) {
  VmDescription vm = plain_vm(8, kGiB * 8);
  vm.pci_devices = {{"0000:3b:00.0", NodeId{2}}};
  vm.io_threads = {1};
  const Advice advice = advice_for(vm, equal_nodes(4, 4, 1, 64));
  EXPECT_EQ(advice.binding, AdvisedBinding::kCells);
  EXPECT_THAT(advice.cell_nodes, ElementsAre(NodeId{0}, NodeId{2}));
  ASSERT_THAT(advice.io_thread_pins, SizeIs(1));
  EXPECT_THAT(advice.io_thread_pins[0].cpus, ElementsAre(CpuId{0}, CpuId{1}, CpuId{2}, CpuId{3}));
}

TEST(AdviseTest, LeavesOutNodesWithoutRoomForACell) {
  VmDescription vm = plain_vm(8, kGiB * 8);
  vm.memory_locked = true;
  AdviceHost host{.topology = equal_nodes(3, 4, 1, 64)};
  host.free = {kGiB, kGiB * 60, kGiB * 60};
  EXPECT_THAT(advise({.vm = vm}, host)->cell_nodes, ElementsAre(NodeId{1}, NodeId{2}));
}

TEST(AdviseTest, KeepsNodesThatAreNamed) {
  VmDescription vm = plain_vm(2, kGiB);
  vm.numatune = NumatuneMode::kRestrictive;
  vm.numatune_nodes = {NodeId{1}};
  const Advice advice = advice_for(vm, equal_nodes(2, 4, 1, 64));
  EXPECT_EQ(advice.binding, AdvisedBinding::kNodes);
  EXPECT_THAT(advice.nodes, ElementsAre(NodeId{1}));
  vm.numatune = NumatuneMode::kStrict;
  EXPECT_EQ(advice_for(vm, equal_nodes(2, 4, 1, 64)).binding, AdvisedBinding::kAuto);
}

TEST(AdviseTest, GivesEachLineAReasonAndARule) {
  VmDescription vm = plain_vm(12, kGiB * 8);
  vm.huge_page_size = kMiB * 2;
  const auto advice =
      advise({.vm = vm, .virtio_disks = 3, .is_x86 = true}, {.topology = equal_nodes(2, 8, 2, 64)});
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->io_threads, 2);
  EXPECT_THAT(advice->lines, SizeIs(::testing::Ge(6U)));
  for (const AdviceLine& line : advice->lines) {
    EXPECT_FALSE(line.what.empty() || line.reason.empty() || line.rule.empty()) << line.what;
  }
}

TEST(AdviseTest, RefusesWhatIsNoVmAndWhatIsNoHost) {
  EXPECT_THAT(
      advise({.vm = plain_vm(0, kGiB)}, {.topology = equal_nodes(1, 1, 1, 1)}).error().message,
      HasSubstr("no vCPU"));
  EXPECT_THAT(
      advise({.vm = plain_vm(1, Bytes{})}, {.topology = equal_nodes(1, 1, 1, 1)}).error().message,
      HasSubstr("no memory"));
  EXPECT_EQ(advise({.vm = plain_vm(1, kGiB)}, {}).error().code, ErrorCode::kNoSpace);
}

TEST(CommonHostTest, HasTheLeastOfEverything) {
  AdviceHost large{.topology = equal_nodes(4, 16, 2, 128)};
  AdviceHost small{.topology = equal_nodes(2, 20, 1, 64)};
  large.topology.nodes[0].huge_pages = {{kMiB * 2, 100}};
  small.topology.distances = {10, 32, 32, 10};
  const AdviceHost common = common_host({large, small});
  ASSERT_THAT(common.topology.nodes, SizeIs(2));
  EXPECT_EQ(common.topology.nodes[1].core_count(), 16);
  EXPECT_EQ(common.topology.nodes[1].cpu_count(), 16);
  EXPECT_EQ(common.topology.nodes[1].memory, kGiB * 64);
  EXPECT_THAT(common.topology.nodes[1].huge_pages, IsEmpty());
  EXPECT_THAT(common.topology.distances, ElementsAre(10, 32, 32, 10));
  EXPECT_EQ(common, common_host({small, large}));
}

TEST(CommonHostTest, OfOneHostIsThatHost) {
  const AdviceHost host{.topology = equal_nodes(4, 8, 2, 64)};
  const Topology common = common_host({host}).topology;
  ASSERT_THAT(common.nodes, SizeIs(4));
  EXPECT_EQ(common.distances, host.topology.distances);
  EXPECT_EQ(common.nodes[2].core_count(), 8);
  EXPECT_EQ(common.nodes[2].cpu_count(), 16);
}

}  // namespace
}  // namespace vmnuma
