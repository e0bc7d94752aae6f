// SPDX-License-Identifier: Apache-2.0
#include "placement/clients.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::equal_nodes;

std::vector<std::int32_t> numbers(std::int32_t first, std::int32_t count) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

VmDescription vm_of(std::int32_t vcpus, Bytes memory = kGiB * 8) {
  VmDescription vm;
  vm.vcpus = numbers(0, vcpus);
  vm.max_vcpus = vcpus;
  vm.memory = vm.max_memory = memory;
  return vm;
}

VmDescription with_sockets(std::int32_t sockets, std::int32_t cores, std::int32_t threads = 1) {
  VmDescription vm = vm_of(sockets * cores * threads);
  vm.sockets = sockets;
  vm.dies = 1;
  vm.cores = cores;
  vm.threads = threads;
  return vm;
}

VmDescription with_cells(const std::vector<std::int32_t>& vcpus_of_cells, Bytes each = kGiB * 4) {
  VmDescription vm;
  for (const std::int32_t count : vcpus_of_cells) {
    GuestCell cell;
    cell.id = static_cast<std::int32_t>(vm.cells.size());
    cell.vcpus = numbers(static_cast<std::int32_t>(vm.vcpus.size()), count);
    cell.memory = each;
    vm.vcpus.insert(vm.vcpus.end(), cell.vcpus.begin(), cell.vcpus.end());
    vm.memory += each;
    vm.cells.push_back(cell);
  }
  return vm;
}

std::vector<std::size_t> sizes(const VmDescription& vm, const Topology& topology,
                               bool prefer_ht = false) {
  std::vector<std::size_t> counts;
  for (const ClientShape& shape : split_into_clients(vm, topology, prefer_ht)) {
    counts.push_back(shape.vcpus.size());
  }
  return counts;
}

const Topology kTenCores = equal_nodes(2, 10, 2, 64);
const Topology kTwentyCores = equal_nodes(2, 20, 1, 256);

TEST(ClientsTest, MakesOneClientOfWhatFitsANode) {
  EXPECT_THAT(sizes(vm_of(10), kTenCores), ElementsAre(10));
}

TEST(ClientsTest, SpreadsEvenlyOverTheFewestClients) {
  EXPECT_THAT(sizes(vm_of(12), kTenCores), ElementsAre(6, 6));
  EXPECT_THAT(sizes(vm_of(36), kTwentyCores), ElementsAre(18, 18));
  EXPECT_THAT(sizes(vm_of(36), equal_nodes(4, 14, 1, 64)), ElementsAre(12, 12, 12));
  EXPECT_THAT(sizes(vm_of(11), kTenCores), ElementsAre(6, 5));
}

TEST(ClientsTest, KeepsVcpusInOrder) {
  const auto clients = split_into_clients(vm_of(12), kTenCores, false);
  ASSERT_THAT(clients, SizeIs(2));
  EXPECT_EQ(clients[0].vcpus, numbers(0, 6));
  EXPECT_EQ(clients[1].vcpus, numbers(6, 6));
}

TEST(ClientsTest, KeepsSocketsWhole) {
  EXPECT_THAT(sizes(with_sockets(15, 2), kTwentyCores), ElementsAre(16, 14));
  EXPECT_THAT(sizes(with_sockets(5, 6), kTwentyCores), ElementsAre(18, 12));
}

TEST(ClientsTest, KeepsGuestCoresWholeWhereSocketsAreTooLarge) {
  // One socket of 15 cores with 2 threads on 20-core nodes: 8 + 7 cores, no core is cut.
  EXPECT_THAT(sizes(with_sockets(1, 15, 2), kTwentyCores), ElementsAre(16, 14));
}

TEST(ClientsTest, KeepsDiesWholeWhereSocketsAreTooLarge) {
  VmDescription vm = vm_of(24);
  vm.sockets = 1;
  vm.dies = 4;
  vm.cores = 6;
  vm.threads = 1;
  EXPECT_THAT(sizes(vm, equal_nodes(4, 14, 1, 64)), ElementsAre(12, 12));
}

TEST(ClientsTest, CutsSocketsThatFitNoOtherWay) {
  // Sockets of 8 on nodes of 10 cores: 24 vCPUs in 3 clients is one socket each; 16 in a socket of
  // 16 cannot stay whole.
  EXPECT_THAT(sizes(with_sockets(3, 8), kTenCores), ElementsAre(8, 8, 8));
  EXPECT_THAT(sizes(with_sockets(1, 16), kTenCores), ElementsAre(8, 8));
}

TEST(ClientsTest, CutsSocketsThatWouldNeedMoreClients) {
  // Two clients are enough; 3 sockets of 6 would make 12 + 6, which is too many for 10 cores.
  EXPECT_THAT(sizes(with_sockets(3, 6), kTenCores), ElementsAre(9, 9));
}

TEST(ClientsTest, CountsThreadsWhenAskedTo) {
  EXPECT_THAT(sizes(vm_of(12), kTenCores, /*prefer_ht=*/true), ElementsAre(12));
  VmDescription vm = vm_of(12);
  vm.policy.prefer_ht = true;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(12));
}

TEST(ClientsTest, IsLimitedByPolicy) {
  VmDescription vm = vm_of(8);
  vm.policy.max_per_node = 4;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(4, 4));
  vm.policy.max_per_client = 3;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(3, 3, 2));
}

TEST(ClientsTest, TakesItsSizeFromTheSmallestAllowedNode) {
  Topology topology = equal_nodes(2, 10, 1, 64);
  topology.nodes[1].cpus.resize(4);
  EXPECT_THAT(sizes(vm_of(12), topology), ElementsAre(4, 4, 4));
  VmDescription vm = vm_of(12);
  vm.policy.nodes = {NodeId{0}};
  EXPECT_THAT(sizes(vm, topology), ElementsAre(6, 6));
}

TEST(ClientsTest, IgnoresNodesThatCannotBeAHome) {
  Topology topology = equal_nodes(3, 10, 1, 64);
  topology.nodes[1].memory = Bytes{};
  topology.nodes[2].cpus.clear();
  EXPECT_THAT(allowed_homes(topology, VmPolicy{}), ElementsAre(0));
  EXPECT_THAT(sizes(vm_of(8), topology), ElementsAre(8));
}

TEST(ClientsTest, FindsAllowedNodesByTheirKernelNumber) {
  Topology topology = equal_nodes(3, 4, 1, 64);
  topology.nodes[2].id = NodeId{8};
  VmPolicy policy;
  policy.nodes = {NodeId{8}, NodeId{0}};
  EXPECT_THAT(allowed_homes(topology, policy), ElementsAre(0, 2));
}

TEST(ClientsTest, AllowsAllNodesWhereThePolicyNamesNoneThatExists) {
  VmPolicy policy;
  policy.nodes = {NodeId{7}};
  EXPECT_THAT(allowed_homes(kTenCores, policy), ElementsAre(0, 1));
}

TEST(ClientsTest, AVmLivesWhereItsMemoryMayFollow) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  vm.numatune = NumatuneMode::kRestrictive;
  vm.numatune_nodes = {NodeId{1}, NodeId{2}};
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(1, 2));
  vm.numatune_auto = true;  // that was the advice of the start
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1, 2));
  vm.numatune_auto = false;
  vm.policy.memory_mode = MemoryMode::kMask;  // it follows the homes
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1, 2));
}

TEST(ClientsTest, MemoryIsBoundWhereNumatuneSaysSoAndNothingChangesThat) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  EXPECT_THAT(bound_nodes(topology, vm, {}), IsEmpty());
  vm.numatune_nodes = {NodeId{1}, NodeId{2}, NodeId{7}};  // which this host does not have
  for (const auto mode : {NumatuneMode::kStrict, NumatuneMode::kRestrictive}) {
    vm.numatune = mode;
    EXPECT_THAT(bound_nodes(topology, vm, {}), ElementsAre(1, 2));
  }
  vm.policy.memory_mode = MemoryMode::kMask;  // the set follows the homes
  EXPECT_THAT(bound_nodes(topology, vm, {}), IsEmpty());
  vm.numatune = NumatuneMode::kStrict;
  EXPECT_THAT(bound_nodes(topology, vm, {}), ElementsAre(1, 2));
  vm.numatune_auto = true;
  EXPECT_THAT(bound_nodes(topology, vm, {}), IsEmpty());
  vm.numatune_auto = false;
  vm.numatune = NumatuneMode::kPreferred;
  EXPECT_THAT(bound_nodes(topology, vm, {}), IsEmpty());
}

TEST(ClientsTest, TheCellsOfAClientHaveOnePageSizeOrCountAsTheVms) {
  VmDescription vm = vm_of(4);
  vm.huge_page_size = kGiB;
  vm.cells = {{0, {0}, kGiB}, {1, {1}, kGiB}, {2, {2}, kGiB}, {3, {3}, kGiB}, {4, {}, Bytes{}}};
  vm.cells[1].page_size = Bytes{};
  vm.cells[2].page_size = Bytes{};
  vm.cells[3].page_size = kMiB * 2;
  EXPECT_EQ(other_page_size(vm, {}), std::nullopt);
  EXPECT_EQ(other_page_size(vm, {0}), std::nullopt);  // the VM's
  EXPECT_EQ(other_page_size(vm, {1, 2}), Bytes{});
  EXPECT_EQ(other_page_size(vm, {3, 4}), kMiB * 2);  // the last has no memory
  EXPECT_EQ(other_page_size(vm, {0, 1}), std::nullopt);
  EXPECT_EQ(other_page_size(vm, {1, 3}), std::nullopt);
}

TEST(ClientsTest, EachGuestCellIsBoundByItself) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  vm.cells = {{0, {0, 1}, kGiB}, {1, {2, 3}, kGiB}};
  vm.cells[0].binding = CellBinding{NumatuneMode::kStrict, {NodeId{2}}};
  EXPECT_THAT(bound_nodes(topology, vm, {0}), ElementsAre(2));
  EXPECT_THAT(bound_nodes(topology, vm, {1}), IsEmpty());
  EXPECT_THAT(bound_nodes(topology, vm, {}), IsEmpty());  // a part of it may lie anywhere
  vm.numatune = NumatuneMode::kStrict;                    // that of cells without their own
  vm.numatune_nodes = {NodeId{0}};
  EXPECT_THAT(bound_nodes(topology, vm, {1}), ElementsAre(0));
  EXPECT_THAT(bound_nodes(topology, vm, {}), ElementsAre(0, 2));
}

TEST(ClientsTest, AVmStrictlyNearItsDevicesMayLiveOnTheirNodesOnly) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  vm.pci_devices = {{"0000:3b:00.0", NodeId{2}}, {"0000:3b:00.1", NodeId{}}};
  EXPECT_THAT(device_nodes(topology, vm), ElementsAre(2));
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1, 2));
  vm.policy.device_locality = DeviceLocality::kStrict;
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(2));
  vm.policy.nodes = {NodeId{0}, NodeId{1}};  // the administrator's word comes first
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1));
  vm.policy.device_locality = DeviceLocality::kNone;
  EXPECT_THAT(device_nodes(topology, vm), IsEmpty());
}

TEST(ClientsTest, AVmNearItsDevicesSocketsMayLiveOnAllNodesOfThem) {
  Topology topology = equal_nodes(4, 8, 1, 64);
  for (NodeIndex node = 0; node < 4; ++node) {
    topology.nodes[node].package = static_cast<std::int32_t>(node / 2);
  }
  VmDescription vm = vm_of(4);
  vm.pci_devices = {{"0000:3b:00.0", NodeId{2}}};
  vm.policy.device_locality = DeviceLocality::kSocket;
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(2, 3));
  vm.host_interfaces = {{"br0", NodeId{0}}};
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1, 2, 3));
  vm.pci_devices = {};
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1));
  vm.host_interfaces[0].node = NodeId{};
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 1, 2, 3));
}

TEST(ClientsTest, MediatedDevicesCountAsPassedThroughOnes) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  vm.mediated_devices = {{"53764d0e-85a0-42b4-af5c-2046b460b1dc", NodeId{2}}};
  EXPECT_THAT(device_nodes(topology, vm), ElementsAre(2));
  vm.policy.device_locality = DeviceLocality::kStrict;
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(2));
  EXPECT_THAT(why_memory_stays(vm).value_or(""),
              testing::HasSubstr("mediated device 53764d0e-85a0-42b4-af5c-2046b460b1dc"));
}

TEST(ClientsTest, HostDisksAreAWishLikeInterfaces) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  vm.host_interfaces = {{"br0", NodeId{2}}};
  vm.host_disks = {{"nvme0n1", NodeId{1}}, {"mapper/vg-root", NodeId{}}};
  EXPECT_THAT(device_nodes(topology, vm), IsEmpty());
  EXPECT_THAT(wished_nodes(topology, vm), ElementsAre(1, 2));
  vm.policy.device_locality = DeviceLocality::kStrict;
  EXPECT_THAT(device_nodes(topology, vm), ElementsAre(1, 2));
  EXPECT_THAT(wished_nodes(topology, vm), IsEmpty());
  vm.policy.device_locality = DeviceLocality::kNone;
  EXPECT_THAT(wished_nodes(topology, vm), IsEmpty());
}

TEST(ClientsTest, HostInterfacesAreAWishUnlessAskedForMore) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm = vm_of(4);
  vm.host_interfaces = {{"br0", NodeId{2}}, {"br1", NodeId{1}}, {"br2", NodeId{}}};
  EXPECT_THAT(device_nodes(topology, vm), IsEmpty());
  EXPECT_THAT(wished_nodes(topology, vm), ElementsAre(1, 2));
  vm.policy.device_locality = DeviceLocality::kStrict;
  EXPECT_THAT(device_nodes(topology, vm), ElementsAre(1, 2));
  EXPECT_THAT(wished_nodes(topology, vm), IsEmpty());
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(1, 2));
  vm.policy.device_locality = DeviceLocality::kNone;
  EXPECT_THAT(device_nodes(topology, vm), IsEmpty());
  EXPECT_THAT(wished_nodes(topology, vm), IsEmpty());
}

TEST(ClientsTest, AVmThatFitsTheLargestNodeIsOneClient) {
  Topology topology = equal_nodes(2, 8, 1, 64);
  topology.nodes[1].cpus.resize(2);
  EXPECT_THAT(sizes(vm_of(8), topology), ElementsAre(8));
  EXPECT_THAT(sizes(vm_of(10), topology), SizeIs(5));  // each may live on the smallest
}

TEST(ClientsTest, AVmForASingleNodeIsOneClientWhereANodeHasAsManyCpus) {
  Topology topology = equal_nodes(3, 8, 2, 64);  // 16 CPUs each
  topology.nodes[1].cpus.resize(4);
  VmDescription vm = vm_of(12);
  EXPECT_THAT(sizes(vm, topology), SizeIs(6));  // by the cores of the smallest
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  EXPECT_THAT(sizes(vm, topology), ElementsAre(12));
  EXPECT_THAT(allowed_homes(topology, vm), ElementsAre(0, 2));
  EXPECT_THAT(allowed_homes(topology, vm_of(12)), ElementsAre(0, 1, 2));
}

TEST(ClientsTest, AVmTooWideForASingleNodeIsSplitAllTheSame) {
  VmDescription vm = vm_of(24);
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(8, 8, 8));
}

TEST(ClientsTest, ARestrictedVmIsSizedByThreads) {
  const Topology topology = equal_nodes(2, 8, 2, 64);
  VmDescription vm = vm_of(16);
  EXPECT_THAT(sizes(vm, topology), ElementsAre(8, 8));
  vm.policy.topology_policy = TopologyPolicy::kRestricted;
  EXPECT_THAT(sizes(vm, topology), ElementsAre(16));
}

TEST(ClientsTest, HasNoClientsWithoutVcpusOrHomes) {
  EXPECT_THAT(split_into_clients(vm_of(0), kTenCores, false), IsEmpty());
  EXPECT_THAT(split_into_clients(vm_of(4), Topology{}, false), IsEmpty());
}

TEST(ClientsTest, NeverSplitsACellThatFits) {
  // 3 cells of 4: two together would fit 10 cores, so 2 clients of 8 + 4.
  const VmDescription vm = with_cells({4, 4, 4});
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(8, 4));
  const auto clients = split_into_clients(vm, kTenCores, false);
  EXPECT_THAT(clients[0].cells, ElementsAre(0, 1));
  EXPECT_THAT(clients[1].cells, ElementsAre(2));
  EXPECT_EQ(clients[0].memory, kGiB * 8);
  EXPECT_EQ(clients[1].memory, kGiB * 4);
}

TEST(ClientsTest, GroupsCellsEvenly) {
  EXPECT_THAT(sizes(with_cells({4, 4, 4, 4}), kTenCores), ElementsAre(8, 8));
  EXPECT_THAT(sizes(with_cells({2, 2, 2, 2, 2, 2}), kTenCores), ElementsAre(6, 6));
  EXPECT_THAT(sizes(with_cells({4, 4}), kTenCores), ElementsAre(8));
}

TEST(ClientsTest, CutsOnlyCellsThatAreTooLarge) {
  const VmDescription vm = with_cells({12, 4});
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(6, 6, 4));
  const auto clients = split_into_clients(vm, kTenCores, false);
  EXPECT_THAT(clients[0].cells, IsEmpty());
  EXPECT_THAT(clients[2].cells, ElementsAre(1));
  EXPECT_EQ(clients[0].memory, kGiB * 2);
  EXPECT_EQ(clients[2].memory, kGiB * 4);
}

TEST(ClientsTest, KeepsVcpusOfInterleavedCellsAscending) {
  VmDescription vm = with_cells({2, 2});
  vm.cells[0].vcpus = {0, 2};
  vm.cells[1].vcpus = {1, 3};
  const auto clients = split_into_clients(vm, kTenCores, false);
  ASSERT_THAT(clients, SizeIs(1));
  EXPECT_THAT(clients[0].vcpus, ElementsAre(0, 1, 2, 3));
}

TEST(ClientsTest, CountsOnlyVcpusThatAreOnline) {
  VmDescription vm = with_cells({8, 8});
  vm.vcpus = {0, 1, 8};
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(3));
  VmDescription holes = vm_of(0);
  holes.vcpus = {0, 2, 5};
  EXPECT_THAT(split_into_clients(holes, kTenCores, false)[0].vcpus, ElementsAre(0, 2, 5));
}

TEST(ClientsTest, IgnoresCellsThatDoNotCoverAllVcpus) {
  VmDescription vm = with_cells({4, 4});
  vm.vcpus = numbers(0, 12);
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(6, 6));
}

TEST(ClientsTest, GivesMemoryOnlyCellsToTheFirstClient) {
  VmDescription vm = with_cells({8, 8, 0});
  const auto clients = split_into_clients(vm, kTenCores, false);
  ASSERT_THAT(clients, SizeIs(2));
  EXPECT_EQ(clients[0].memory + clients[1].memory, kGiB * 12);
  VmDescription first_is_empty = with_cells({0, 8, 8});
  const auto others = split_into_clients(first_is_empty, kTenCores, false);
  ASSERT_THAT(others, SizeIs(2));
  EXPECT_EQ(others[0].memory, kGiB * 8);
  EXPECT_EQ(others[1].memory, kGiB * 4);
}

TEST(ClientsTest, SharesTheMemoryAsItIsNowInProportionToTheCells) {
  // Two cells of 4 GiB, but the balloon holds half of it.
  VmDescription vm = with_cells({8, 8});
  vm.memory = kGiB * 4;
  const auto clients = split_into_clients(vm, kTenCores, false);
  EXPECT_EQ(clients[0].memory, kGiB * 2);
  EXPECT_EQ(clients[1].memory, kGiB * 2);
}

TEST(ClientsTest, SharesMemoryByVcpusWithoutCells) {
  const auto clients = split_into_clients(vm_of(11, Bytes{1000}), kTenCores, false);
  // 6 / 11 and 5 / 11 of 1000 are 545 and 454; the first takes the rest.
  EXPECT_EQ(clients[0].memory, Bytes{546});
  EXPECT_EQ(clients[1].memory, Bytes{454});
}

TEST(ClientsTest, SpillsMemoryUnlessToldNotToConsolidate) {
  VmDescription vm = vm_of(8, kGiB * 100);  // nodes of 64
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(8));
  vm.policy.consolidate = false;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(4, 4));
}

TEST(ClientsTest, SplitsCellsByMemoryToo) {
  VmDescription vm = with_cells({2, 2, 2, 2}, kGiB * 32);
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(8));
  vm.policy.consolidate = false;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(4, 4));
}

TEST(ClientsTest, HasNeverMoreClientsThanVcpus) {
  VmDescription vm = vm_of(2, kGiB * 1000);
  vm.policy.consolidate = false;
  EXPECT_THAT(sizes(vm, kTenCores), ElementsAre(1, 1));
}

}  // namespace
}  // namespace vmnuma
