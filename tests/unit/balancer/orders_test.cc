// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using migration::PinChange;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A VM is placed that is so busy: the order that does it.
migration::Order placing_order(VmDescription vm, std::int32_t busy_pct = 50) {
  HostStory host(2, balancer::Mode::kActive);
  host.start(vm, 1, busy_pct);
  (void)host.report_domains();
  (void)host.epoch();
  const balancer::Effects effects = host.epoch();
  EXPECT_THAT(effects.orders, SizeIs(1));
  return effects.orders.front();
}

TEST(OrdersTest, PinsVcpusFirstThenTheEmulatorThenIoThreads) {
  VmDescription vm = small_vm(1, "web1", 2);
  vm.io_threads = {1, 2};
  const migration::VmChange change = placing_order(vm).changes.front();
  ASSERT_THAT(change.pins, SizeIs(5));
  EXPECT_EQ(change.pins[0].thread, PinChange::Thread::kVcpu);
  EXPECT_EQ(change.pins[1].thread, PinChange::Thread::kVcpu);
  EXPECT_EQ(change.pins[2].thread, PinChange::Thread::kEmulator);
  EXPECT_EQ(change.pins[3].thread, PinChange::Thread::kIoThread);
  EXPECT_EQ(change.pins[3].number, 1);
  EXPECT_EQ(change.pins[4].number, 2);
}

TEST(OrdersTest, PinsToAllUsableCpusOfTheHomeAndRemembersWhatWasThere) {
  VmDescription vm = small_vm(1, "web1", 2);
  vm.emulator_pin = {CpuId{3}};
  const migration::VmChange change = placing_order(vm).changes.front();
  const std::int32_t home = change.homes.front().to.value;
  EXPECT_EQ(change.pins[0].after, node_cpus(home));
  EXPECT_THAT(change.pins[0].before, IsEmpty());
  EXPECT_EQ(change.pins[2].before, std::vector<CpuId>{CpuId{3}});
  EXPECT_EQ(change.process.pid, 1001);
}

TEST(OrdersTest, WhatLibvirtWasAdvisedIsWhatWasThereBeforeForThreadsWithoutAPin) {
  VmDescription vm = small_vm(1, "web1", 2);
  vm.io_threads = {1};
  vm.advised_cpus = {CpuId{1}, CpuId{2}};
  vm.emulator_pin = {CpuId{3}};
  const migration::VmChange change = placing_order(vm).changes.front();
  for (const PinChange& pin : change.pins) {
    const bool has_a_pin = pin.thread == PinChange::Thread::kEmulator;
    EXPECT_EQ(pin.before, has_a_pin ? vm.emulator_pin : vm.advised_cpus);
  }
}

TEST(OrdersTest, LeavesMemoryAloneThatCannotMove) {
  VmDescription vm = small_vm(1, "web1", 2);
  EXPECT_THAT(placing_order(vm).changes.front().memory.quotas, SizeIs(1));
  vm.numatune = NumatuneMode::kStrict;
  EXPECT_THAT(placing_order(vm).changes.front().memory.quotas, IsEmpty());
}

TEST(OrdersTest, SharesAWideVmsMemoryOutOverItsHomes) {
  const migration::VmChange change = placing_order(small_vm(1, "wide", 4), 100).changes.front();
  ASSERT_THAT(change.homes, SizeIs(2));
  ASSERT_THAT(change.memory.quotas, SizeIs(2));
  EXPECT_EQ(change.memory.quotas[0].bytes, kVmMemory / 2);
  EXPECT_EQ(change.memory.quotas[1].bytes, kVmMemory / 2);
  // The emulator serves both clients, so it may run on both homes.
  EXPECT_THAT(change.pins.back().after, SizeIs(4));
}

TEST(OrdersTest, TheMemoryOfEachGuestCellBelongsOnTheHomeOfItsClient) {
  VmDescription vm = small_vm(1, "wide", 4);
  vm.cells = {{0, {0, 1}, kVmMemory / 2}, {1, {2, 3}, kVmMemory / 2}};
  const migration::VmChange change = placing_order(vm, 100).changes.front();
  ASSERT_THAT(change.homes, SizeIs(2));
  ASSERT_THAT(change.memory.cells, SizeIs(2));
  EXPECT_EQ(change.memory.cells[0].size, kVmMemory / 2);
  EXPECT_EQ(change.memory.cells[0].node, change.homes[0].to);
  EXPECT_EQ(change.memory.cells[1].node, change.homes[1].to);
  EXPECT_NE(change.memory.cells[0].node, change.memory.cells[1].node);
}

TEST(OrdersTest, WhereLibvirtWasAdvisedToStartIsNoLimitForLater) {
  VmDescription vm = small_vm(1, "small", 2);
  vm.numatune = NumatuneMode::kRestrictive;
  vm.numatune_auto = true;
  const migration::MemoryChange unknown = placing_order(vm).changes.front().memory;
  EXPECT_THAT(unknown.allowed_after, Not(IsEmpty()));  // libvirt does not say what it was
  vm.numatune_nodes = unknown.allowed_after;
  EXPECT_THAT(placing_order(vm).changes.front().memory.allowed_after, IsEmpty());
  ASSERT_THAT(unknown.quotas, SizeIs(1));
  std::erase(vm.numatune_nodes, unknown.quotas.front().node);
  const migration::MemoryChange elsewhere = placing_order(vm).changes.front().memory;
  EXPECT_EQ(elsewhere.allowed_after, unknown.allowed_after);
  EXPECT_EQ(elsewhere.allowed_before, vm.numatune_nodes);
}

TEST(OrdersTest, CellsOnOneHomeNeedNotBeTold) {
  VmDescription vm = small_vm(1, "small", 2);
  vm.cells = {{0, {0}, kVmMemory / 2}, {1, {1}, kVmMemory / 2}};
  EXPECT_THAT(placing_order(vm).changes.front().memory.cells, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tests
