// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::Effects;
using balancer::Mode;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

void enable(balancer::ControllerSetup& setup) {
  setup.options.mem_qos_enable = 1;
}

VmDescription vm_of(std::uint8_t number, MemoryClass memory_class) {
  VmDescription vm = small_vm(number, "vm" + std::to_string(number), 2);
  vm.own_policy = {{"memory_class", std::string(name_of(memory_class))}};
  return vm;
}

/// A guaranteed VM and one without a class on a host of two nodes, 2 GiB.
HostStory story(Mode mode, const std::function<void(balancer::ControllerSetup&)>& change = enable) {
  HostStory host(2, mode, change);
  host.start(vm_of(1, MemoryClass::kGuaranteed), 0, 10);
  host.start(small_vm(2, "plain", 2), 1, 10);
  (void)host.report_domains();
  return host;
}

void epochs(HostStory& host, int count) {
  for (int i = 0; i < count; ++i) {
    host.carry_out(host.epoch());
  }
}

TEST(MemoryControlTest, AGuaranteedVmAndItsSliceAreProtected) {
  HostStory host = story(Mode::kActive);
  epochs(host, 4);
  // 64 MiB of the guest and 256 besides.
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)], (MemoryLimits{kMiB * 320, {}, {}, {}, Bytes{}}));
  EXPECT_EQ(host.limits()["machine.slice"], (MemoryLimits{kMiB * 320, {}, {}, {}, {}}));
  EXPECT_EQ(host.limits()[HostStory::vm_scope(2)], MemoryLimits{});
}

TEST(MemoryControlTest, NothingIsTouchedUnlessItIsSwitchedOnAndActive) {
  for (const Mode mode : {Mode::kObserve, Mode::kDryRun}) {
    HostStory host = story(mode);
    for (int i = 0; i < 5; ++i) {
      const Effects effects = host.epoch();
      EXPECT_THAT(effects.memory, IsEmpty());
      EXPECT_FALSE(effects.memory_originals);
    }
  }
  HostStory off = story(Mode::kActive, [](balancer::ControllerSetup&) {});
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(off.epoch().memory, IsEmpty());
  }
  HostStory paused = story(Mode::kActive);
  (void)paused.controller().on(balancer::CommandReceived{1, balancer::PauseRequest{}});
  EXPECT_THAT(paused.epoch().memory, IsEmpty());
  (void)paused.controller().on(balancer::CommandReceived{1, balancer::ResumeRequest{}});
  EXPECT_THAT(paused.epoch().memory, Not(IsEmpty()));
}

TEST(MemoryControlTest, WhatWasFoundIsToBeKeptBeforeTheFirstChange) {
  HostStory host = story(Mode::kActive);
  host.limits()[HostStory::vm_scope(1)].max = kGiB;
  const Effects effects = host.epoch();
  ASSERT_TRUE(effects.memory_originals);
  EXPECT_EQ(effects.memory_originals->at(HostStory::vm_scope(1)).found,
            (MemoryLimits{{}, {}, {}, kGiB, {}}));
  EXPECT_THAT(effects.memory, Contains(Field(&balancer::MemoryChange::path, "machine.slice")));
}

TEST(MemoryControlTest, AReleasedVmIsAsItWasFound) {
  HostStory host = story(Mode::kActive);
  host.limits()[HostStory::vm_scope(1)].low = kMiB;
  epochs(host, 4);
  const Effects effects =
      host.controller().on(balancer::CommandReceived{1, balancer::ReleaseRequest{"vm1"}});
  EXPECT_THAT(std::get<balancer::DoneView>(*effects.replies.at(0).answer).message,
              HasSubstr("; its memory limits are restored, too; "));
  EXPECT_THAT(effects.memory, SizeIs(2));
  host.carry_out(effects);
  epochs(host, 4);
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)], (MemoryLimits{{}, kMiB, {}, {}, {}}));
  EXPECT_EQ(host.limits()["machine.slice"], MemoryLimits{});
  (void)host.controller().on(balancer::CommandReceived{1, balancer::ManageRequest{"vm1"}});
  epochs(host, 4);
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)].min, kMiB * 320);
}

TEST(MemoryControlTest, SwitchedOffAllIsRestored) {
  HostStory host = story(Mode::kActive);
  epochs(host, 4);
  (void)host.controller().on(
      balancer::CommandReceived{1, balancer::OptionsSetRequest{"Numa.MemQosEnable", 0, false}});
  epochs(host, 4);
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)], MemoryLimits{});
  EXPECT_EQ(host.limits()["machine.slice"], MemoryLimits{});
}

TEST(MemoryControlTest, AtTheEndAllIsRestoredIfAskedFor) {
  HostStory host = story(Mode::kActive);
  epochs(host, 4);
  EXPECT_THAT(host.controller().on(balancer::Stopping{false}).memory, IsEmpty());
  host.carry_out(host.controller().on(balancer::Stopping{true}));
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)], MemoryLimits{});
  EXPECT_EQ(host.limits()["machine.slice"], MemoryLimits{});
}

TEST(MemoryControlTest, APolicyThatChangesIsFollowed) {
  HostStory host = story(Mode::kActive);
  epochs(host, 4);
  host.set_own_policy(1, {{"memory_class", "best-effort"}});
  (void)host.report_domains();
  epochs(host, 4);
  // 0.9 of 320 MiB.
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)], (MemoryLimits{{}, {}, kMiB * 288, {}, {}}));
  EXPECT_EQ(host.limits()["machine.slice"], MemoryLimits{});
}

TEST(MemoryControlTest, ReservationsBeyondTheHostAreSaidAndProtectedLikeBurstableOnes) {
  HostStory host = story(Mode::kActive, [](balancer::ControllerSetup& setup) {
    setup.options.mem_qos_enable = 1;
    setup.options.mem_qos_overhead = 1100;
  });
  host.start(vm_of(3, MemoryClass::kGuaranteed), 0, 10);
  (void)host.report_domains();
  int said = 0;
  for (int i = 0; i < 6; ++i) {
    const Effects effects = host.epoch();
    for (const balancer::LogLine& line : effects.log) {
      said += line.message.find("cannot be guaranteed") != std::string::npos ? 1 : 0;
    }
    host.carry_out(effects);
  }
  EXPECT_EQ(said, 1);
  // 1164 MiB each, of 2 GiB less the reserve.
  EXPECT_EQ(host.limits()[HostStory::vm_scope(1)].min, kMiB * 1164);
  EXPECT_EQ(host.limits()[HostStory::vm_scope(3)].min, Bytes{});
  EXPECT_EQ(host.limits()[HostStory::vm_scope(3)].low, kMiB * 1164);
  EXPECT_EQ(host.limits()["machine.slice"], (MemoryLimits{kMiB * 1164, kMiB * 1164, {}, {}, {}}));
}

TEST(MemoryControlTest, AVmThatCannotBeReadKeepsItsPartOfTheSlice) {
  HostStory host = story(Mode::kActive);
  epochs(host, 4);
  host.hide(1);
  epochs(host, 4);
  EXPECT_EQ(host.limits()["machine.slice"].min, kMiB * 320);
}

TEST(MemoryControlTest, AFailureIsSaidOnceAndTheEpochGoesOn) {
  HostStory host = story(Mode::kActive);
  host.set_limits_problem("there is no bus");
  host.carry_out(host.epoch());
  const Effects effects = host.epoch();
  EXPECT_THAT(effects.memory, IsEmpty());
  EXPECT_TRUE(effects.epoch);
}

}  // namespace
}  // namespace vmnuma::tests
