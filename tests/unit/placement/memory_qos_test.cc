// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_qos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma {
namespace {

using testing::HasSubstr;

/// 1 GiB, of which the guest has three quarters at present, as a VM of that class.
VmDescription vm_of_class(MemoryClass memory_class) {
  VmDescription vm;
  vm.name = "web";
  vm.memory = kMiB * 768;
  vm.max_memory = kGiB;
  vm.policy.memory_class = memory_class;
  return vm;
}

std::optional<MemoryProtection> protection(const VmDescription& vm, Bytes swap = kGiB) {
  return protection_of(vm, swap, Options{});
}

TEST(MemoryQosTest, AVmWithoutAClassGetsNothing) {
  EXPECT_EQ(protection(vm_of_class(MemoryClass::kNone)), std::nullopt);
}

TEST(MemoryQosTest, AGuaranteedVmKeepsAllThatItNeedsAndNeverSwaps) {
  // 768 MiB and 256 MiB besides.
  EXPECT_EQ(protection(vm_of_class(MemoryClass::kGuaranteed)),
            (MemoryProtection{kGiB, Bytes{}, std::nullopt, Bytes{}}));
}

TEST(MemoryQosTest, ABurstableVmIsProtectedAsLongAsThereIsOtherMemory) {
  // The request is 1024 MiB and the limit 1280: 1024 + 0.9 x 256 = 1254.4 MiB, 20070.4 pages.
  EXPECT_EQ(protection(vm_of_class(MemoryClass::kBurstable)),
            (MemoryProtection{Bytes{}, kGiB, Bytes{20070 * 65536}, std::nullopt}));
}

TEST(MemoryQosTest, WhereRequestAndLimitAreEqualNothingThrottles) {
  VmDescription vm = vm_of_class(MemoryClass::kBurstable);
  vm.memory = vm.max_memory;
  EXPECT_EQ(protection(vm), (MemoryProtection{Bytes{}, kMiB * 1280, std::nullopt, std::nullopt}));
}

TEST(MemoryQosTest, ABestEffortVmGivesMemoryBackFirst) {
  // 0.9 x 1280 MiB = 1152 MiB.
  EXPECT_EQ(protection(vm_of_class(MemoryClass::kBestEffort)),
            (MemoryProtection{Bytes{}, Bytes{}, kMiB * 1152, std::nullopt}));
}

TEST(MemoryQosTest, TheFactorAndTheOverheadAreOptions) {
  Options options;
  options.mem_qos_throttling_pct = 50;
  options.mem_qos_overhead = 0;
  EXPECT_EQ(protection_of(vm_of_class(MemoryClass::kBestEffort), kGiB, options)->high, kMiB * 512);
  EXPECT_EQ(protection_of(vm_of_class(MemoryClass::kGuaranteed), kGiB, options)->min, kMiB * 768);
  options.mem_qos_throttling_pct = 100;
  EXPECT_EQ(protection_of(vm_of_class(MemoryClass::kBestEffort), kGiB, options)->high, kGiB);
}

TEST(MemoryQosTest, WhatIsNotReclaimableIsNeverThrottled) {
  struct Unreclaimable {
    void (*change)(VmDescription& vm);
    const char* why;
  };
  const Unreclaimable cases[] = {
      {[](VmDescription& vm) { vm.memory_locked = true; }, "is locked"},
      {[](VmDescription& vm) { vm.huge_page_size = kMiB * 2; }, "huge pages"},
      {[](VmDescription& vm) {
         vm.pci_devices = {{"0000:3b:00.0", {0}}};
       },
       "0000:3b:00.0"},
      {[](VmDescription& vm) { vm.memory_pinned_by = "an mdev"; }, "pinned by an mdev"},
      {[](VmDescription& vm) { vm.policy.memory_mode = MemoryMode::kHandsOff; }, "hands-off"},
  };
  for (const MemoryClass memory_class :
       {MemoryClass::kGuaranteed, MemoryClass::kBurstable, MemoryClass::kBestEffort}) {
    for (const Unreclaimable& one : cases) {
      VmDescription vm = vm_of_class(memory_class);
      one.change(vm);
      EXPECT_EQ(protection(vm)->high, std::nullopt) << one.why;
      EXPECT_THAT(why_not_reclaimable(vm, kGiB).value_or(""), HasSubstr(one.why));
    }
    EXPECT_EQ(protection(vm_of_class(memory_class), Bytes{})->high, std::nullopt);
  }
  EXPECT_EQ(why_not_reclaimable(vm_of_class(MemoryClass::kBestEffort), Bytes{}),
            "the host has no swap");
  EXPECT_EQ(why_not_reclaimable(vm_of_class(MemoryClass::kBestEffort), kGiB), std::nullopt);
}

TEST(MemoryQosTest, HugePagesNeedNoProtectionButQemuDoes) {
  VmDescription vm = vm_of_class(MemoryClass::kGuaranteed);
  vm.huge_page_size = kMiB * 2;
  EXPECT_EQ(protection(vm)->min, kMiB * 256);
}

TEST(MemoryQosTest, OfAVmWithSeveralPageSizesTheOrdinaryMemoryIsProtected) {
  VmDescription vm = vm_of_class(MemoryClass::kGuaranteed);
  vm.memory = vm.max_memory = kMiB * 768;
  vm.huge_page_size = kMiB * 2;
  vm.cells = {{0, {0}, kMiB * 512}, {1, {1}, kMiB * 256}};
  vm.cells[1].page_size = Bytes{};
  EXPECT_EQ(protection(vm)->min, kMiB * 512);  // 256 of the guest and 256 besides
}

TEST(MemoryQosTest, ValuesAreWholePages) {
  Options options;
  for (std::int64_t kibibytes = 700'001; kibibytes < 700'200; kibibytes += 13) {
    VmDescription vm = vm_of_class(MemoryClass::kBurstable);
    vm.memory = kKiB * kibibytes;
    options.mem_qos_throttling_pct = kibibytes % 100 + 1;
    const auto burstable = protection_of(vm, kGiB, options);
    EXPECT_EQ(burstable->low.value % kLargestPage.value, 0);
    EXPECT_EQ(burstable->high->value % kLargestPage.value, 0);
    EXPECT_GE(*burstable->high, burstable->low);
    vm.policy.memory_class = MemoryClass::kGuaranteed;
    EXPECT_EQ(protection_of(vm, kGiB, options)->min, burstable->low);
  }
}

TEST(MemoryQosTest, AVmOfTheLargestSizeDoesNotOverflow) {
  VmDescription vm = vm_of_class(MemoryClass::kBestEffort);
  vm.memory = vm.max_memory = kGiB * (std::int64_t{64} << 10U);
  EXPECT_GT(protection(vm)->high.value(), vm.memory * 8 / 10);
}

}  // namespace
}  // namespace vmnuma
