// SPDX-License-Identifier: Apache-2.0
#include "placement/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::equal_nodes;

NodeResource resource(std::int64_t asked, std::vector<std::int64_t> available,
                      std::vector<std::int64_t> capacity = {}) {
  if (capacity.empty()) {
    capacity.assign(available.size(), 100);
  }
  return {"units", asked, std::move(available), std::move(capacity)};
}

AdmissionRequest request(TopologyPolicy policy, std::vector<NodeResource> resources) {
  AdmissionRequest request;
  request.policy = policy;
  for (NodeIndex node = 0; node < resources.front().available.size(); ++node) {
    request.allowed.push_back(node);
  }
  request.resources = std::move(resources);
  return request;
}

Admission admitted(const AdmissionRequest& asked) {
  return admit(equal_nodes(static_cast<std::int32_t>(asked.allowed.size()), 4, 1, 16), asked);
}

TEST(AdmissionTest, FindsTheOneNodeThatHasAllOfIt) {
  const Admission admission = admitted(request(
      TopologyPolicy::kSingleNumaNode, {resource(4, {8, 2, 8, 8}), resource(10, {5, 50, 50, 5})}));
  EXPECT_TRUE(admission.admitted);
  EXPECT_THAT(admission.nodes, ElementsAre(2));
}

TEST(AdmissionTest, ASingleNodeVmIsRefusedWhereNoNodeHasAll) {
  const auto asked = [](TopologyPolicy policy) {
    return request(policy, {resource(4, {8, 2}), resource(10, {5, 50})});
  };
  EXPECT_FALSE(admitted(asked(TopologyPolicy::kSingleNumaNode)).admitted);
  // Two nodes would do, but the empty host could give it one.
  EXPECT_FALSE(admitted(asked(TopologyPolicy::kRestricted)).admitted);
  const Admission best_effort = admitted(asked(TopologyPolicy::kBestEffort));
  EXPECT_TRUE(best_effort.admitted);
  EXPECT_FALSE(best_effort.preferred);
  EXPECT_THAT(best_effort.nodes, ElementsAre(0, 1));
}

TEST(AdmissionTest, ARestrictedVmMayHaveAsManyNodesAsTheEmptyHostWouldHaveToGiveIt) {
  // 150 of at most 100 a node: two at best.
  const auto asked = [](std::vector<std::int64_t> available) {
    return request(TopologyPolicy::kRestricted, {resource(150, std::move(available))});
  };
  EXPECT_TRUE(admitted(asked({80, 10, 70})).admitted);
  EXPECT_THAT(admitted(asked({80, 10, 70})).nodes, ElementsAre(0, 2));
  EXPECT_FALSE(admitted(asked({60, 60, 60})).admitted);
}

TEST(AdmissionTest, ResourcesThatNeedDifferentNumbersOfNodesDoNotRefuseEachOther) {
  const Admission admission = admitted(request(
      TopologyPolicy::kRestricted, {resource(150, {90, 90, 90}), resource(10, {0, 0, 50})}));
  EXPECT_TRUE(admission.admitted);
  EXPECT_THAT(admission.nodes, testing::Contains(2));
  EXPECT_THAT(admission.nodes, testing::SizeIs(2));
}

TEST(AdmissionTest, ARequestForMorePageSizesThanAnyHostHasIsNotMet) {
  const std::vector<NodeResource> many(kMostResources + 1, resource(1, {9, 9}));
  EXPECT_FALSE(admitted(request(TopologyPolicy::kSingleNumaNode, many)).admitted);
  EXPECT_FALSE(admitted(request(TopologyPolicy::kBestEffort, many)).preferred);
}

TEST(AdmissionTest, MemoryInPoolsIsNotOrdinaryMemory) {
  Topology topology = equal_nodes(2, 4, 1, 16);
  for (Node& node : topology.nodes) {
    node.huge_pages = {{kGiB, 8}};
  }
  VmDescription vm;
  vm.max_memory = kGiB * 9;
  vm.policy.topology_policy = TopologyPolicy::kRestricted;
  // No node could have it, so two may.
  EXPECT_TRUE(admit(topology, request_of(topology, vm, {{kGiB * 7, kGiB * 7}, {}})).admitted);
  EXPECT_FALSE(
      admit(topology, request_of(topology, vm, {{kGiB * 7, kGiB * 7}, {}, {kGiB * 15, kGiB * 15}}))
          .admitted);
}

TEST(AdmissionTest, AVmIsAdmittedOnlyWhereItsMemoryMayLie) {
  const Topology topology = equal_nodes(3, 4, 1, 16);
  VmDescription vm;
  vm.vcpus = {0};
  vm.max_memory = kGiB * 4;
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  vm.numatune = NumatuneMode::kStrict;
  vm.numatune_nodes = {NodeId{1}};
  const auto admission = [&](Bytes on_node_1) {
    return admit(topology, request_of(topology, vm, {{kGiB * 8, on_node_1, kGiB * 8}, {}}));
  };
  EXPECT_THAT(admission(kGiB * 4).nodes, ElementsAre(1));
  EXPECT_FALSE(admission(kGiB * 3).admitted);
  vm.numatune = NumatuneMode::kPreferred;
  EXPECT_TRUE(admission(kGiB * 3).admitted);
}

TEST(AdmissionTest, TheNodesOfAllDevicesBelongToTheAnswer) {
  AdmissionRequest asked =
      request(TopologyPolicy::kRestricted, {resource(10, {100, 100, 100, 100})});
  asked.devices = {1, 3};
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(1, 3));
  EXPECT_TRUE(admitted(asked).admitted);
  asked.policy = TopologyPolicy::kSingleNumaNode;
  EXPECT_FALSE(admitted(asked).admitted);
  asked.devices = {3};
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(3));
  asked.allowed = {0, 1, 2};  // the device is where the VM may not live
  EXPECT_FALSE(admitted(asked).admitted);
}

TEST(AdmissionTest, WithoutAPolicyNothingIsChecked) {
  const Admission admission =
      admitted(request(TopologyPolicy::kNone, {resource(500, {1, 1}), resource(1, {1, 1})}));
  EXPECT_TRUE(admission.admitted);
  EXPECT_THAT(admission.nodes, ElementsAre(0, 1));
}

TEST(AdmissionTest, OnAHostWithMoreNodesThanAllowedNothingIsAligned) {
  AdmissionRequest asked = request(TopologyPolicy::kSingleNumaNode, {resource(1, {9, 9, 9})});
  asked.max_allowable_nodes = 3;
  EXPECT_TRUE(admitted(asked).admitted);
  asked.max_allowable_nodes = 2;
  EXPECT_FALSE(admitted(asked).admitted);
  EXPECT_THAT(refusal_text(equal_nodes(3, 4, 1, 16), asked),
              HasSubstr("3 nodes and max_allowable_numa_nodes is 2"));
  asked.policy = TopologyPolicy::kBestEffort;
  EXPECT_TRUE(admitted(asked).admitted);
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(0, 1, 2));
}

TEST(AdmissionTest, OfEqualNodesTheLeastLoadedWinsAndThenTheNextInTurn) {
  AdmissionRequest asked = request(TopologyPolicy::kSingleNumaNode, {resource(1, {9, 9, 9, 9})});
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(0));
  asked.last = 1;
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(2));
  asked.last = 3;
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(0));
  asked.load = {500, 300, 300, 800};
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(1));
  asked.last = 1;
  EXPECT_THAT(admitted(asked).nodes, ElementsAre(2));
}

TEST(AdmissionTest, TheClosestNodesWinIfThatIsAskedFor) {
  Topology topology = equal_nodes(4, 4, 1, 16);
  topology.distances = {10, 30, 20, 30, 30, 10, 30, 12, 20, 30, 10, 30, 30, 12, 30, 10};
  AdmissionRequest asked = request(TopologyPolicy::kRestricted, {resource(150, {90, 90, 90, 90})});
  EXPECT_THAT(admit(topology, asked).nodes, ElementsAre(0, 1));
  asked.prefer_closest = true;
  EXPECT_THAT(admit(topology, asked).nodes, ElementsAre(1, 3));
  asked.load = {0, 900, 0, 900};  // counts only between equally close ones
  EXPECT_THAT(admit(topology, asked).nodes, ElementsAre(1, 3));
}

TEST(AdmissionTest, APolicyMayAskForTheClosestNodes) {
  Topology topology = equal_nodes(4, 2, 1, 16);
  topology.distances = {10, 30, 20, 30, 30, 10, 30, 12, 20, 30, 10, 30, 30, 12, 30, 10};
  VmDescription vm;
  vm.vcpus = {0, 1, 2, 3};
  vm.max_memory = kGiB;
  vm.policy.topology_policy = TopologyPolicy::kRestricted;
  const std::vector<Bytes> room(4, kGiB * 16);
  EXPECT_THAT(admit(topology, request_of(topology, vm, {room, {}})).nodes, ElementsAre(0, 1));
  vm.policy.prefer_closest_numa_nodes = true;
  EXPECT_THAT(admit(topology, request_of(topology, vm, {room, {}})).nodes, ElementsAre(1, 3));
}

TEST(AdmissionTest, ARefusalNamesThePolicyWhatWasAskedForAndWhatEachNodeHad) {
  Topology topology = equal_nodes(2, 8, 2, 64);
  topology.nodes[1].id = NodeId{4};
  VmDescription vm;
  vm.vcpus = {0, 1, 2, 3};
  vm.max_memory = kGiB * 8;
  vm.huge_page_size = kMiB * 2;
  vm.pci_devices = {{"0000:3b:00.0", NodeId{4}}};
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  AdmissionRequest asked = request_of(
      topology, vm,
      {{kGiB, kGiB}, {{NodeId{0}, 5000, 6000, kMiB * 2}, {NodeId{4}, 10, 6000, kMiB * 2}}});
  EXPECT_FALSE(admit(topology, asked).admitted);
  EXPECT_EQ(refusal_text(topology, asked),
            "topology_policy is 'single-numa-node', but no single node has all that the VM needs: "
            "4 CPUs, 4096 huge pages of 2048 KiB, devices of node 4. Free were on node 0 16 "
            "CPUs, 5000 huge pages of 2048 KiB; on node 4 16 CPUs, 10 huge pages of 2048 KiB");
  vm.policy.device_locality = DeviceLocality::kNone;
  EXPECT_THAT(
      admit(topology,
            request_of(topology, vm,
                       {{kGiB, kGiB},
                        {{NodeId{0}, 5000, 6000, kMiB * 2}, {NodeId{4}, 10, 6000, kMiB * 2}}}))
          .nodes,
      ElementsAre(0));
}

TEST(AdmissionTest, AVmNearItsDevicesSocketsIsAdmittedOnAnyOfTheirNodes) {
  Topology topology = equal_nodes(4, 8, 1, 64);
  for (NodeIndex node = 0; node < 4; ++node) {
    topology.nodes[node].package = static_cast<std::int32_t>(node / 2);
  }
  VmDescription vm;
  vm.vcpus = {0, 1};
  vm.max_memory = kGiB * 8;
  vm.pci_devices = {{"0000:3b:00.0", NodeId{3}}};
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  vm.policy.device_locality = DeviceLocality::kSocket;
  const auto admitted = [&](const std::vector<Bytes>& room) {
    return admit(topology, request_of(topology, vm, {room, {}}));
  };
  EXPECT_THAT(admitted({kGiB * 64, kGiB * 64, kGiB * 64, kGiB}).nodes, ElementsAre(2));
  EXPECT_FALSE(admitted({kGiB * 64, kGiB * 64, kGiB, kGiB}).admitted);
}

TEST(AdmissionTest, AVmOfOrdinaryPagesAsksForMemoryWithinItsNodes) {
  const Topology topology = equal_nodes(3, 8, 1, 64);
  VmDescription vm;
  vm.vcpus = {0, 1};
  vm.max_memory = kGiB * 8;
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  vm.policy.nodes = {NodeId{0}, NodeId{2}};
  const std::vector<Bytes> room{kGiB * 7, kGiB * 60, kGiB * 9};
  EXPECT_THAT(admit(topology, request_of(topology, vm, {room, {}})).nodes, ElementsAre(2));
  vm.max_memory = kGiB * 10;
  const AdmissionRequest asked = request_of(topology, vm, {room, {}});
  EXPECT_FALSE(admit(topology, asked).admitted);
  EXPECT_THAT(refusal_text(topology, asked), HasSubstr("10240 MiB of memory"));
  EXPECT_THAT(refusal_text(topology, asked), Not(HasSubstr("node 1")));
}

/// A VM of two guest cells with 4 vCPUs and 8 GiB each, every one of which must be on one node.
VmDescription two_cells(TopologyScope scope) {
  VmDescription vm;
  vm.vcpus = {0, 1, 2, 3, 4, 5, 6, 7};
  vm.cells = {{0, {0, 1, 2, 3}, kGiB * 8}, {1, {4, 5, 6, 7}, kGiB * 8}};
  vm.memory = vm.max_memory = kGiB * 16;
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  vm.policy.topology_scope = scope;
  return vm;
}

VmAdmission admit_where_free(const VmDescription& vm, std::vector<Bytes> room) {
  return admit_vm(equal_nodes(3, 4, 1, 16), vm, /*prefer_ht=*/false, {std::move(room), {}},
                  [](AdmissionRequest& /*request*/, const VmDescription& /*part*/) {});
}

TEST(AdmissionTest, WithScopeClientEachClientFitsByItself) {
  const std::vector<Bytes> room{kGiB * 9, kGiB * 2, kGiB * 9};
  EXPECT_THAT(admit_where_free(two_cells(TopologyScope::kVm), room).refused,
              testing::Optional(HasSubstr("8 CPUs, 16384 MiB of memory")));
  const VmAdmission admission = admit_where_free(two_cells(TopologyScope::kClient), room);
  EXPECT_EQ(admission.refused, std::nullopt);
  EXPECT_THAT(admission.nodes, ElementsAre(0, 2));
}

TEST(AdmissionTest, WithScopeClientNoneGetsWhatAnotherClientWasAdmittedWith) {
  EXPECT_THAT(admit_where_free(two_cells(TopologyScope::kClient), {kGiB * 9, kGiB, kGiB}).refused,
              testing::Optional(testing::AllOf(
                  HasSubstr("for client 1 the topology_policy is 'single-numa-node'"),
                  HasSubstr("4 CPUs, 8192 MiB of memory. Free were on node 0 0 CPUs, 1024 MiB"))));
  VmDescription vm = two_cells(TopologyScope::kClient);
  vm.huge_page_size = kGiB;
  const VmAdmission admission =
      admit_vm(equal_nodes(2, 4, 1, 16), vm, /*prefer_ht=*/false,
               {{Bytes{}, Bytes{}}, {{NodeId{0}, 15, 16, kGiB}, {NodeId{1}, 8, 16, kGiB}}},
               [](AdmissionRequest& /*request*/, const VmDescription& /*part*/) {});
  EXPECT_EQ(admission.refused, std::nullopt);
  EXPECT_THAT(admission.nodes, ElementsAre(0, 1));
}

TEST(AdmissionTest, WithScopeClientTheFirstClientHasTheDevices) {
  VmDescription vm = two_cells(TopologyScope::kClient);
  vm.pci_devices = {{"0000:3b:00.0", NodeId{2}}};
  const VmAdmission admission = admit_where_free(vm, {kGiB * 9, kGiB * 2, kGiB * 9});
  EXPECT_EQ(admission.refused, std::nullopt);
  EXPECT_THAT(admission.nodes, ElementsAre(0, 2));
  EXPECT_NE(admit_where_free(vm, {kGiB * 9, kGiB * 9, kGiB * 2}).refused, std::nullopt);
}

TEST(AdmissionTest, MemoryOfEachPageSizeMustBeFreeOfIt) {
  VmDescription vm = two_cells(TopologyScope::kVm);
  vm.policy.topology_policy = TopologyPolicy::kBestEffort;
  vm.huge_page_size = kGiB;
  vm.cells[1].page_size = kMiB * 2;
  const auto admitted = [&vm](std::int64_t small_pages) {
    return admit_vm(equal_nodes(2, 8, 1, 64), vm, /*prefer_ht=*/false,
                    {{kGiB * 64, kGiB * 64},
                     {{NodeId{0}, 8, 8, kGiB},
                      {NodeId{1}, 8, 8, kGiB},
                      {NodeId{1}, small_pages, 5000, kMiB * 2}}},
                    [](AdmissionRequest& /*request*/, const VmDescription& /*part*/) {});
  };
  EXPECT_EQ(admitted(4096).unmet, std::nullopt);
  EXPECT_THAT(admitted(4096).nodes, ElementsAre(1));
  EXPECT_THAT(admitted(4096).memory, ElementsAre(MemoryOnNode{NodeId{1}, kMiB * 2, kGiB * 8},
                                                 MemoryOnNode{NodeId{1}, kGiB, kGiB * 8}));
  EXPECT_EQ(admitted(4095).refused, std::nullopt);
  EXPECT_THAT(admitted(4095).unmet,
              testing::Optional(HasSubstr("4096 huge pages of 2048 KiB, 8 huge pages of 1048576")));
}

TEST(AdmissionTest, AHostWithoutNodesAdmitsNoVmThatMustBeAligned) {
  AdmissionRequest asked;
  asked.policy = TopologyPolicy::kRestricted;
  asked.resources = {{"CPUs", 1, {}, {}}};
  EXPECT_FALSE(admit(Topology{}, asked).admitted);
  EXPECT_THAT(admit(Topology{}, asked).nodes, IsEmpty());
  EXPECT_THAT(refusal_text(Topology{}, asked), HasSubstr("no nodes"));
}

}  // namespace
}  // namespace vmnuma
