// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/starting_vms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

VmDescription vm(std::uint8_t number, std::int32_t vcpus, Bytes memory) {
  VmDescription description;
  description.id.uuid.fill(number);
  description.name = "vm" + std::to_string(number);
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    description.vcpus.push_back(vcpu);
  }
  description.max_vcpus = vcpus;
  description.memory = description.max_memory = memory;
  description.placement_auto = true;
  return description;
}

constexpr std::int64_t kNow = 100;

TEST(StartingVmsTest, TheVmThatAsksIsTheOneAnnouncedWithThatSize) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 512), true, kNow);
  starting.announce(vm(2, 4, kMiB * 512), true, kNow);
  starting.announce(vm(3, 2, kMiB * 300), true, kNow);
  EXPECT_EQ(starting.asking(2, kMiB * 300, kNow).description.name, "vm3");
  EXPECT_EQ(starting.asking(4, kMiB * 512, kNow).description.name, "vm2");
  EXPECT_EQ(starting.asking(2, kMiB * 512, kNow).description.name, "vm1");
}

TEST(StartingVmsTest, EqualSizesAskInTheOrderOfTheirAnnouncements) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 512), true, kNow);
  starting.announce(vm(2, 2, kMiB * 512), true, kNow);
  EXPECT_EQ(starting.asking(2, kMiB * 512, kNow).description.name, "vm1");
  EXPECT_EQ(starting.asking(2, kMiB * 512, kNow).description.name, "vm2");
  EXPECT_EQ(starting.asking(2, kMiB * 512, kNow).description.name, "");
}

TEST(StartingVmsTest, MemoryIsComparedAsLibvirtAsks) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 299 + Bytes{1024}), true, kNow);
  EXPECT_EQ(starting.asking(2, kMiB * 300, kNow).description.name, "vm1");
}

TEST(StartingVmsTest, AnnouncedAgainIsAnnouncedOnce) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 512), true, kNow);
  starting.announce(vm(1, 4, kMiB * 512), true, kNow + 1);
  EXPECT_THAT(starting.all(), SizeIs(1));
  EXPECT_EQ(starting.asking(2, kMiB * 512, kNow).description.name, "");
  EXPECT_EQ(starting.asking(4, kMiB * 512, kNow).description.name, "vm1");
}

TEST(StartingVmsTest, WithdrawnIsForgotten) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 512), true, kNow);
  starting.withdraw(vm(1, 2, kMiB * 512).id);
  EXPECT_THAT(starting.all(), IsEmpty());
  starting.withdraw(vm(9, 1, kMiB).id);  // which is not known
}

TEST(StartingVmsTest, AVmThatAppearsIsToldWhereItWasToStart) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 512), true, kNow);
  starting.asking(2, kMiB * 512, kNow).nodes = {NodeId{2}, NodeId{3}};
  EXPECT_THAT(starting.appeared(vm(1, 2, kMiB * 512)), ElementsAre(NodeId{2}, NodeId{3}));
  EXPECT_THAT(starting.appeared(vm(2, 2, kMiB * 512)), IsEmpty());
}

TEST(StartingVmsTest, WithoutAnAnnouncementTheFirstOfThatSizeTakesTheAnswer) {
  StartingVms starting;
  starting.asking(2, kMiB * 512, kNow).nodes = {NodeId{1}};
  VmDescription did_not_ask = vm(1, 2, kMiB * 512);
  did_not_ask.placement_auto = false;
  EXPECT_THAT(starting.appeared(did_not_ask), IsEmpty());
  EXPECT_THAT(starting.appeared(vm(2, 4, kMiB * 512)), IsEmpty());
  EXPECT_THAT(starting.appeared(vm(3, 2, kMiB * 512)), ElementsAre(NodeId{1}));
  EXPECT_THAT(starting.appeared(vm(4, 2, kMiB * 512)), IsEmpty());
}

TEST(StartingVmsTest, UnnamedVmsAreDifferentOnes) {
  StartingVms starting;
  const VmId first = starting.asking(2, kMiB * 512, kNow).description.id;
  const VmId second = starting.asking(2, kMiB * 512, kNow).description.id;
  EXPECT_NE(first, second);
}

TEST(StartingVmsTest, WhatIsNotFollowedUpIsForgotten) {
  StartingVms starting;
  starting.announce(vm(1, 2, kMiB * 512), true, kNow);
  (void)starting.asking(4, kMiB * 512, kNow);
  starting.forget_older(kNow + StartingVms::kAsksWithin);
  EXPECT_THAT(starting.all(), SizeIs(2));
  starting.forget_older(kNow + StartingVms::kAsksWithin + 1);
  EXPECT_THAT(starting.all(), SizeIs(1));
  starting.forget_older(kNow + StartingVms::kStartsWithin + 1);
  EXPECT_THAT(starting.all(), IsEmpty());
}

TEST(StartingVmsTest, OfTooManyTheOldestAreForgotten) {
  StartingVms starting;
  for (std::int32_t i = 0; i < 1000; ++i) {
    (void)starting.asking(1 + i, kMiB, kNow);
  }
  EXPECT_THAT(starting.all(), SizeIs(StartingVms::kMostStarting));
  EXPECT_THAT(starting.all().back().description.vcpus, SizeIs(1000));
}

}  // namespace
}  // namespace vmnuma::balancer
