// SPDX-License-Identifier: Apache-2.0
#include "placement/largest_vm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::equal_nodes;

constexpr Bytes kPage = kMiB * 2;

/// A VM that must be on one node, and there is only one that it may use.
VmDescription single_node_vm(const Topology& topology, NodeIndex node, std::int32_t vcpus,
                             Bytes memory, Bytes page_size) {
  VmDescription vm;
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpus.push_back(vcpu);
  }
  vm.memory = vm.max_memory = memory;
  vm.huge_page_size = page_size;
  vm.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
  vm.policy.nodes = {topology.nodes[node].id};
  return vm;
}

bool is_admitted(const Topology& topology, const VmDescription& vm, const FreeForVm& free) {
  return !admit_vm(topology, vm, /*prefer_ht=*/false, free,
                   [](AdmissionRequest&, const VmDescription&) {})
              .refused;
}

/// Two nodes of 4 CPUs. The second has so much free; the first has little.
FreeForVm free_on_second(const Topology& topology, Bytes room, std::int64_t pages) {
  return {{kMiB * 3, room},
          {{topology.nodes[0].id, 1, 8, kPage}, {topology.nodes[1].id, pages, 8, kPage}}};
}

TEST(LargestVmTest, WhatIsShownIsAdmittedAndAnythingMoreIsNot) {
  const Topology topology = equal_nodes(2, 4, 1, 16);
  for (std::int64_t half_mib = -1; half_mib <= 9; ++half_mib) {
    for (std::int64_t pages = -1; pages <= 4; ++pages) {
      const FreeForVm free = free_on_second(topology, Bytes{kMiB.value * half_mib / 2}, pages);
      const LargestVm largest = largest_vms(topology, free)[1];
      const auto fits = [&](std::int32_t vcpus, Bytes memory, Bytes page_size) {
        return is_admitted(topology, single_node_vm(topology, 1, vcpus, memory, page_size), free);
      };
      ASSERT_EQ(largest.huge_pages.size(), 1U);
      const Bytes huge = largest.huge_pages[0].memory;
      if (largest.memory > Bytes{}) {
        EXPECT_TRUE(fits(largest.vcpus, largest.memory, Bytes{}));
        EXPECT_FALSE(fits(largest.vcpus + 1, largest.memory, Bytes{}));
      }
      if (huge > Bytes{}) {
        EXPECT_TRUE(fits(largest.vcpus, huge, kPage));
      }
      EXPECT_FALSE(fits(1, largest.memory + kMiB, Bytes{}));
      EXPECT_FALSE(fits(1, huge + kPage, kPage));
      EXPECT_EQ(largest.vcpus, half_mib >= 2 || pages > 0 ? 4 : 0);
    }
  }
}

TEST(LargestVmTest, WhereNoVmMayLiveNoneIsLarge) {
  Topology topology = equal_nodes(2, 4, 1, 16);
  topology.nodes[1].cpus.clear();  // memory only
  const std::vector<LargestVm> by_node =
      largest_vms(topology, free_on_second(topology, kMiB * 512, 4));
  EXPECT_EQ(by_node[1].vcpus, 0);
  EXPECT_EQ(by_node[1].memory, Bytes{});
  EXPECT_THAT(by_node[1].huge_pages, ElementsAre(PagesOfSize{kPage, Bytes{}}));
  EXPECT_EQ(by_node[0].memory, kMiB * 3);
}

TEST(LargestVmTest, ANodeWithoutAPoolHasNoneAndOneWithoutReadingNoRoom) {
  const Topology topology = equal_nodes(2, 4, 1, 16);
  const std::vector<LargestVm> by_node = largest_vms(topology, {{kMiB * 5}, {}});
  EXPECT_THAT(by_node[0].huge_pages, IsEmpty());
  EXPECT_EQ(by_node[0].memory, kMiB * 5);
  EXPECT_EQ(by_node[1], LargestVm{});
}

TEST(LargestVmTest, OfEqualNodesTheOneWithMoreCpusHasTheLargest) {
  const LargestVm small{4, kMiB * 5, {}};
  const LargestVm wide{8, kMiB * 5, {}};
  const LargestVm large{2, kMiB * 6, {}};
  EXPECT_EQ(node_of_largest({small, wide, wide}), 1U);
  EXPECT_EQ(node_of_largest({small, wide, large}), 2U);
  EXPECT_EQ(node_of_largest({LargestVm{}, LargestVm{4, Bytes{}, {}}}), kNoNode);
  EXPECT_EQ(node_of_largest({}), kNoNode);
}

}  // namespace
}  // namespace vmnuma
