// SPDX-License-Identifier: Apache-2.0
/// Pins of real threads.
#include "balancer/qemu/pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/qemu/affinity.h"
#include "tests/support/fake_qemu.h"

namespace vmnuma::balancer::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Thread = migration::ThreadId::Kind;

class PinsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (all_.size() < 2) {
      GTEST_SKIP() << "takes two CPUs";
    }
  }

  Threads threads() {
    return read_threads(files::Directory::open("/proc/" + std::to_string(qemu_.pid())).value(), {})
        .value();
  }
  VmDescription described() {
    VmDescription vm;
    read_pins(threads(), qemu_.pid(), all_, vm);
    return vm;
  }

  const std::vector<CpuId> all_ = affinity_of(0).value();
  const std::vector<CpuId> one_{all_.front()};
  const std::vector<CpuId> other_{all_.back()};
  tests::FakeQemu qemu_{VmId{{7}}, 2};
};

TEST_F(PinsTest, AThreadThatMayRunAnywhereHasNone) {
  const auto vm = described();
  EXPECT_THAT(vm.vcpus, ElementsAre(0, 1));
  EXPECT_THAT(vm.vcpu_pins, IsEmpty());
  EXPECT_THAT(vm.emulator_pin, IsEmpty());
}

TEST_F(PinsTest, PinsOfEachRoleAreMadeAndRead) {
  ASSERT_TRUE(pin_threads(tids_of(threads(), {Thread::kVcpu, 1}), one_));
  EXPECT_THAT(described().vcpu_pins, ElementsAre(Pin{1, one_}));
  ASSERT_TRUE(pin_threads(tids_of(threads(), {Thread::kEmulator, 0}), other_));
  EXPECT_EQ(described().emulator_pin, other_);
  EXPECT_EQ(described().default_pin, other_);
  EXPECT_THAT(tids_of(threads(), {Thread::kVcpu, 7}), IsEmpty());
}

TEST_F(PinsTest, OfThreadsThatEndTheOthersArePinned) {
  const std::int64_t ended = threads().vcpus.at(1).tid;
  qemu_.unplug(1);
  const std::int64_t tid = threads().vcpus.at(0).tid;
  EXPECT_TRUE(pin_threads({ended, tid}, one_));
  EXPECT_EQ(affinity_of(tid).value(), one_);
  EXPECT_EQ(pin_threads({ended}, one_).error().code, ErrorCode::kVanished);
}

TEST_F(PinsTest, OnlyWhatWasResetIsPinnedAgain) {
  KnownVm vm;
  vm.pins[{Thread::kVcpu, 0}] = one_;
  vm.pins[{Thread::kVcpu, 1}] = one_;
  const Threads now = threads();
  ASSERT_TRUE(pin_threads({now.vcpus.at(1).tid}, other_));  // pinned by others by now
  EXPECT_EQ(restore_pins(vm, now, all_), 1);
  EXPECT_THAT(described().vcpu_pins, ElementsAre(Pin{0, one_}, Pin{1, other_}));
  EXPECT_EQ(restore_pins(vm, now, all_), 0);
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
