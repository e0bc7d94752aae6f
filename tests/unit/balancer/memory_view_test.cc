// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::MemoryView;
using balancer::Mode;
using balancer::VictimView;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MemoryView view_of(HostStory& host) {
  const auto effects =
      host.controller().on(balancer::CommandReceived{1, balancer::MemoryRequest{}});
  return std::get<MemoryView>(*effects.replies.at(0).answer);
}

TEST(MemoryViewTest, TellsWhatIsInForceAndWhichVmLosesMemoryFirst) {
  HostStory host(2, Mode::kObserve);
  host.start(small_vm(1, "kept", 2), 0, 10);
  host.start(small_vm(2, "free", 2), 1, 10);
  host.limits()[HostStory::vm_scope(1)] = {kMiB * 100, {}, {}, kMiB * 900, Bytes{}};
  host.limits()["machine.slice"] = {kMiB * 100, {}, {}, {}, {}};
  (void)host.report_domains();
  (void)host.epoch();
  const MemoryView view = view_of(host);
  EXPECT_FALSE(view.enabled);
  EXPECT_EQ(view.memory_bytes, kMiB.value * 2048);
  ASSERT_EQ(view.vms.size(), 2U);
  EXPECT_EQ(view.vms[0].vm, "free");
  EXPECT_EQ(view.vms[1].vm, "kept");
  EXPECT_TRUE(view.vms[1].known);
  EXPECT_EQ(view.vms[1].memory_class, "none");
  EXPECT_EQ(view.vms[1].anonymous_bytes, kVmMemory.value);
  EXPECT_EQ(view.vms[1].min_bytes, kMiB.value * 100);
  EXPECT_EQ(view.vms[1].max_bytes, kMiB.value * 900);
  EXPECT_EQ(view.vms[1].high_bytes, std::nullopt);
  EXPECT_EQ(view.vms[1].swap_max_bytes, 0);
  EXPECT_THAT(view.vms[1].node_bytes, ElementsAre(kVmMemory.value, 0));
  EXPECT_THAT(
      view.reclaimed_first,
      ElementsAre(VictimView{"free", kVmMemory.value, "nothing protects 64 MiB of its memory"},
                  VictimView{"kept", 0, "memory.min protects all that it has"}));
  EXPECT_THAT(view.killed_first,
              ElementsAre(VictimView{"free", kVmMemory.value, "64 MiB of memory and swap count"},
                          VictimView{"kept", kVmMemory.value, "64 MiB of memory and swap count"}));
}

TEST(MemoryViewTest, AProtectionThatTheSliceDoesNotHaveIsNone) {
  HostStory host(2, Mode::kObserve);
  host.start(small_vm(1, "kept", 2), 0, 10);
  host.limits()[HostStory::vm_scope(1)] = {kMiB * 100, {}, {}, {}, {}};
  (void)host.report_domains();
  (void)host.epoch();
  const MemoryView view = view_of(host);
  ASSERT_EQ(view.reclaimed_first.size(), 1U);
  EXPECT_EQ(view.reclaimed_first[0].sentence, "nothing protects 64 MiB of its memory");
}

TEST(MemoryViewTest, AVmThatWasNotReadHasNoFiguresAndNoPlace) {
  HostStory host(2, Mode::kObserve);
  host.start(small_vm(1, "new", 2), 0, 10);
  host.hide(1);
  (void)host.report_domains();
  (void)host.epoch();
  const MemoryView view = view_of(host);
  ASSERT_EQ(view.vms.size(), 1U);
  EXPECT_FALSE(view.vms[0].known);
  EXPECT_THAT(view.reclaimed_first, IsEmpty());
  EXPECT_THAT(view.killed_first, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tests
