// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/managed_vm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::ManagedVm;
using balancer::ManagedVms;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ManagedVmsTest, AVmOfWhichNothingIsRememberedReadsAsEmpty) {
  const ManagedVms vms;
  EXPECT_FALSE(vms.of(vm_id(1)).is_left_alone());
  EXPECT_FALSE(vms.of(vm_id(1)).rests_in(0));
  EXPECT_THAT(vms.of(vm_id(1)).cpu_subset_of(0), IsEmpty());
}

TEST(ManagedVmsTest, AVmThatIsForgottenLeavesNothingBehind) {
  ManagedVms vms;
  vms[vm_id(1)].repairs = 3;
  vms[vm_id(1)].released = VmProcess{100, 1};
  vms.set_remembered_homes({{{vm_id(1), 0}, NodeId{1}}});
  vms.forget(vm_id(1));
  EXPECT_EQ(vms.of(vm_id(1)).repairs, std::nullopt);
  EXPECT_THAT(vms.each(&ManagedVm::released), IsEmpty());
  EXPECT_THAT(vms.remembered_homes(), IsEmpty());
}

TEST(ManagedVmsTest, AMemberOfAllVmsGoesOutAndInByItself) {
  ManagedVms vms;
  vms[vm_id(1)].repairs = 1;
  vms[vm_id(2)].settled_since = 7;
  EXPECT_THAT(vms.each(&ManagedVm::repairs), ElementsAre(Pair(vm_id(1), 1)));
  vms.set_each(&ManagedVm::repairs, {{vm_id(3), 2}});
  EXPECT_THAT(vms.each(&ManagedVm::repairs), ElementsAre(Pair(vm_id(3), 2)));
  EXPECT_EQ(vms.of(vm_id(2)).settled_since, 7);
}

TEST(ManagedVmsTest, LeavesAloneWhatIsReleasedOrPinnedByOthers) {
  ManagedVms vms;
  vms[vm_id(1)].released = VmProcess{100, 1};
  vms[vm_id(2)].pinned_by_others = "somehow";
  vms[vm_id(3)].rest = balancer::Rest{1, 10, "it failed"};
  EXPECT_THAT(vms.left_alone(), ElementsAre(vm_id(1), vm_id(2)));
  EXPECT_TRUE(vms.of(vm_id(3)).rests_in(9));
  EXPECT_FALSE(vms.of(vm_id(3)).rests_in(10));
}

TEST(ManagedVmsTest, RepairsAreForgottenWithQuietTimeOnly) {
  constexpr std::int64_t kHour = balancer::kRepairsFade;
  ManagedVm vm;
  for (const std::int64_t epoch : {1, 2, 3, 4}) {
    vm.decay_repairs(epoch);
    EXPECT_EQ(vm.count_repair(epoch), epoch);
  }
  vm.decay_repairs(4 + kHour - 1);
  EXPECT_EQ(vm.repairs, 4);
  vm.decay_repairs(4 + kHour);
  EXPECT_EQ(vm.repairs, 2);
  vm.decay_repairs(4 + kHour);
  EXPECT_EQ(vm.repairs, 2);
  EXPECT_EQ(vm.count_repair(4 + kHour + 10), 3);  // and the hour begins anew
  vm.decay_repairs(4 + 2 * kHour);
  EXPECT_EQ(vm.repairs, 3);
  vm.decay_repairs(14 + 10 * kHour);
  EXPECT_EQ(vm.repairs, std::nullopt);
  EXPECT_EQ(vm.repaired_in, std::nullopt);
}

}  // namespace
}  // namespace vmnuma::tests
