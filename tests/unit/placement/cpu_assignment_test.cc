// SPDX-License-Identifier: Apache-2.0
#include "placement/cpu_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// CPUs as the kernel numbers them: first threads of all cores, then second ones.
Node node_of(std::int32_t caches, std::int32_t cores_per_cache, std::int32_t threads = 2) {
  Node node;
  node.id = NodeId{0};
  const std::int32_t cores = caches * cores_per_cache;
  for (std::int32_t thread = 0; thread < threads; ++thread) {
    for (std::int32_t core = 0; core < cores; ++core) {
      node.cpus.push_back({CpuId{thread * cores + core}, core, core / cores_per_cache});
    }
  }
  return node;
}

class CpuAssignmentTest : public testing::Test {
 protected:
  CpuRequest& add(CpuBinding binding, std::int32_t vcpus) {
    CpuRequest request;
    request.client.vm.uuid[15] = ++last_;
    request.binding = binding;
    request.vcpus = vcpus;
    return requests_.emplace_back(request);
  }
  /// The CPUs of each client as a list, in the order in which they came; the next assignment has
  /// this one as the former.
  std::vector<std::string> assign() {
    grants_ = assign_cpus(node_, requests_, former_);
    std::vector<std::string> lists;
    former_.clear();
    for (const CpuGrant& grant : grants_) {
      former_[grant.client] = {grant.cpus, grant.exclusive_cores > 0};
      lists.push_back(to_list(grant.cpus));
    }
    return lists;
  }

  Node node_ = node_of(2, 4);  // cores 0-3 and 4-7, threads 0-7 and 8-15
  std::vector<CpuRequest> requests_;
  FormerCpus former_;
  std::vector<CpuGrant> grants_;
  std::uint8_t last_ = 0;
};

TEST_F(CpuAssignmentTest, OwnCoresAreTakenFromAllOthers) {
  add(CpuBinding::kNode, 4);
  add(CpuBinding::kExclusive, 4);
  EXPECT_THAT(assign(), ElementsAre("2-7,10-15", "0-1,8-9"));
  EXPECT_EQ(grants_[0].exclusive_cores, 0);
  EXPECT_EQ(grants_[1].exclusive_cores, 2);
}

TEST_F(CpuAssignmentTest, SpreadTakesOneThreadOfEachCoreAndNoClientHasTheOther) {
  add(CpuBinding::kNode, 4);
  add(CpuBinding::kExclusive, 3).policy = CpuPolicy::kSpreadByPCPUs;
  EXPECT_THAT(assign(), ElementsAre("3-7,11-15", "0-2"));
  EXPECT_EQ(grants_[1].exclusive_cores, 3);
}

TEST_F(CpuAssignmentTest, TheSecondGoesToTheOtherCache) {
  add(CpuBinding::kExclusive, 4);
  add(CpuBinding::kExclusive, 4);
  add(CpuBinding::kExclusive, 4);
  EXPECT_THAT(assign(), ElementsAre("0-1,8-9", "4-5,12-13", "2-3,10-11"));
}

TEST_F(CpuAssignmentTest, WhatFitsNoCacheTakesAsFewAsHoldIt) {
  add(CpuBinding::kExclusive, 10);
  EXPECT_THAT(assign(), ElementsAre("0-4,8-12"));
}

TEST_F(CpuAssignmentTest, TooManyAreRefusedWithWhatWasAskedAndWhatThereWas) {
  add(CpuBinding::kExclusive, 8);
  add(CpuBinding::kExclusive, 8);
  EXPECT_THAT(assign(), ElementsAre("0-3,8-11", "4-7,12-15"));
  EXPECT_EQ(grants_[1].exclusive_cores, 0);
  EXPECT_EQ(grants_[1].refused,
            "it asks for 4 cores of its own, and node 0 has 3 left to give away: of 8, 4 belong to "
            "others and one is for all");
  // A client that was refused gets them when they become free.
  requests_.erase(requests_.begin());
  EXPECT_THAT(assign(), ElementsAre("0-3,8-11"));
  EXPECT_EQ(grants_[0].exclusive_cores, 4);
}

TEST_F(CpuAssignmentTest, AClientThatHasCoresKeepsThemWhenOthersCome) {
  add(CpuBinding::kExclusive, 2);
  add(CpuBinding::kExclusive, 2);
  EXPECT_THAT(assign(), ElementsAre("0,8", "4,12"));
  requests_.erase(requests_.begin());
  add(CpuBinding::kExclusive, 2).cpu_class = CpuClass::kLatency;
  EXPECT_THAT(assign(), ElementsAre("4,12", "0,8"));
}

TEST_F(CpuAssignmentTest, ClientsThatShareAreSpreadOverCaches) {
  add(CpuBinding::kShare, 4);
  add(CpuBinding::kShare, 2);
  add(CpuBinding::kShare, 1);
  EXPECT_THAT(assign(), ElementsAre("0-3,8-11", "4-7,12-15", "4-7,12-15"));
}

TEST_F(CpuAssignmentTest, EqualCachesAreChosenByLoad) {
  add(CpuBinding::kShare, 2).load = CpuTime{5};
  add(CpuBinding::kShare, 2).load = CpuTime{4};
  add(CpuBinding::kShare, 2);
  EXPECT_THAT(assign(), ElementsAre("0-3,8-11", "4-7,12-15", "4-7,12-15"));
}

TEST_F(CpuAssignmentTest, WhatIsWiderThanACacheSharesTheNode) {
  add(CpuBinding::kShare, 9);
  EXPECT_THAT(assign(), ElementsAre("0-15"));
}

TEST_F(CpuAssignmentTest, SharingPickersGetCoresApartUntilTheyRunOut) {
  for (int i = 0; i < 4; ++i) {
    add(CpuBinding::kShare, 4).policy = CpuPolicy::kFullPCPUs;
  }
  EXPECT_THAT(assign(), ElementsAre("0-1,8-9", "4-5,12-13", "2-3,10-11", "6-7,14-15"));
  add(CpuBinding::kShare, 4).policy = CpuPolicy::kFullPCPUs;
  EXPECT_THAT(assign(), ElementsAre("0-1,8-9", "4-5,12-13", "2-3,10-11", "6-7,14-15", "0-1,8-9"));
  // One goes, and the two that shared part.
  requests_.erase(requests_.begin() + 1);
  EXPECT_THAT(assign(), ElementsAre("4-5,12-13", "2-3,10-11", "6-7,14-15", "0-1,8-9"));
}

TEST_F(CpuAssignmentTest, BatchKeepsOffTheCacheOfLatency) {
  add(CpuBinding::kNode, 4).cpu_class = CpuClass::kBatch;
  CpuRequest& fast = add(CpuBinding::kExclusive, 4);
  fast.cpu_class = CpuClass::kLatency;
  add(CpuBinding::kNode, 4);
  EXPECT_THAT(assign(), ElementsAre("4-7,12-15", "0-1,8-9", "2-7,10-15"));
}

TEST_F(CpuAssignmentTest, WhereBatchIsTooWideForTheRestItUsesTheCacheButNotTheCores) {
  add(CpuBinding::kNode, 10).cpu_class = CpuClass::kBatch;
  CpuRequest& fast = add(CpuBinding::kShare, 4);
  fast.cpu_class = CpuClass::kLatency;
  fast.policy = CpuPolicy::kFullPCPUs;
  EXPECT_THAT(assign(), ElementsAre("2-7,10-15", "0-1,8-9"));
  // Still wider, it may run anywhere: no client waits while a core idles.
  add(CpuBinding::kNode, 4).cpu_class = CpuClass::kBatch;
  EXPECT_THAT(assign(), ElementsAre("0-15", "0-1,8-9", "0-15"));
}

TEST_F(CpuAssignmentTest, BatchThatWasThereGivesWayToLatency) {
  add(CpuBinding::kShare, 2).cpu_class = CpuClass::kBatch;
  add(CpuBinding::kShare, 2);
  EXPECT_THAT(assign(), ElementsAre("4-7,12-15", "0-3,8-11"));
  add(CpuBinding::kShare, 2).cpu_class = CpuClass::kLatency;
  // It goes where no batch is.
  EXPECT_THAT(assign(), ElementsAre("4-7,12-15", "0-3,8-11", "0-3,8-11"));
  add(CpuBinding::kExclusive, 6);
  add(CpuBinding::kShare, 1).cpu_class = CpuClass::kBatch;
  assign();
  for (const std::size_t batch : {0U, 4U}) {
    for (const CpuId cpu : grants_[2].cpus) {
      EXPECT_FALSE(std::binary_search(grants_[batch].cpus.begin(), grants_[batch].cpus.end(), cpu));
    }
  }
}

TEST_F(CpuAssignmentTest, AChangedPolicyGivesBackWhatIsNoLongerAsked) {
  add(CpuBinding::kExclusive, 4);
  add(CpuBinding::kNode, 4);
  EXPECT_THAT(assign(), ElementsAre("0-1,8-9", "2-7,10-15"));
  requests_[0].binding = CpuBinding::kNode;
  EXPECT_THAT(assign(), ElementsAre("0-15", "0-15"));
}

TEST_F(CpuAssignmentTest, CpusThatAreGoneAreNotKept) {
  add(CpuBinding::kExclusive, 2);
  EXPECT_THAT(assign(), ElementsAre("0,8"));
  std::erase_if(node_.cpus, [](const Cpu& cpu) { return cpu.id == CpuId{8}; });
  EXPECT_THAT(assign(), ElementsAre("0-1,9"));  // a core may hold one vCPU only now
}

TEST_F(CpuAssignmentTest, AClientThatWasRefusedDoesNotTakeTheRestForItsOwn) {
  node_ = node_of(1, 2, 1);
  add(CpuBinding::kExclusive, 1);
  add(CpuBinding::kExclusive, 1);
  std::swap(requests_[0].client, requests_[1].client);  // its owner is not the first by name
  std::vector<CpuRequest> all = requests_;
  requests_.pop_back();
  EXPECT_THAT(assign(), ElementsAre("0"));
  requests_ = all;
  EXPECT_THAT(assign(), ElementsAre("1", "0"));
  EXPECT_THAT(assign(), ElementsAre("1", "0"));
  EXPECT_EQ(grants_[0].exclusive_cores, 0);
  EXPECT_EQ(grants_[1].exclusive_cores, 1);
}

TEST_F(CpuAssignmentTest, ANodeOfOneCoreGivesNothingAway) {
  node_ = node_of(1, 1);
  add(CpuBinding::kExclusive, 1);
  EXPECT_THAT(assign(), ElementsAre("0-1"));
  EXPECT_THAT(grants_[0].refused, HasSubstr("node 0 has 0 left"));
}

TEST_F(CpuAssignmentTest, WithoutRequestsThereAreNoGrants) {
  EXPECT_THAT(assign(), ElementsAre());
}

}  // namespace
}  // namespace vmnuma
