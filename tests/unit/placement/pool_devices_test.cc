// SPDX-License-Identifier: Apache-2.0
/// Which devices of pools a VM takes. The numbers are those of the properties in pool_devices.h.
#include "placement/advice/pool_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<NodeIndex> kAnyNode{0, 1};

/// A pool of a device on node 0 and two on node 1.
AdviceRequest taking(std::vector<std::string> pools, std::vector<HeldDevice> held = {}) {
  AdviceRequest request;
  request.vm.id.uuid[0] = 1;
  request.vm.policy.device_pools = std::move(pools);
  request.pools = {
      {"gpu", {{"0000:0b:00.0", {0}}, {"0000:8b:00.0", {1}}, {"0000:8c:00.0", {1}}}},
      {"vf", {{"0000:0a:00.1", {0}}, {"0000:8a:00.1", {1}}}},
  };
  request.held = std::move(held);
  return request;
}

HeldDevice held_by(std::uint8_t vm, std::string address) {
  HeldDevice held{std::move(address), {}, "vm" + std::to_string(vm)};
  held.vm.uuid[0] = vm;
  return held;
}

AdviceHost host_with(std::vector<Bytes> free) {
  return {.topology = tests::equal_nodes(2, 4, 1, 16), .free = std::move(free)};
}

std::vector<std::string> addresses(const Result<std::vector<PoolChoice>>& choices) {
  std::vector<std::string> found;
  if (!choices) {
    return {choices.error().message};
  }
  for (const PoolChoice& choice : *choices) {
    found.push_back(choice.device.address);
  }
  return found;
}

TEST(PoolDevicesTest, AVmThatNamesNoPoolTakesNothing) {
  EXPECT_TRUE(pool_devices(taking({}), host_with({}), kAnyNode)->empty());
}

TEST(PoolDevicesTest, TheNodeWithTheMostFreeMemoryIsTaken) {
  EXPECT_THAT(addresses(pool_devices(taking({"gpu"}), host_with({kGiB, kGiB * 2}), kAnyNode)),
              ElementsAre("0000:8b:00.0"));
  EXPECT_THAT(addresses(pool_devices(taking({"gpu"}), host_with({kGiB * 2, kGiB}), kAnyNode)),
              ElementsAre("0000:0b:00.0"));
}

TEST(PoolDevicesTest, NearnessToWhereTheVmMayLiveGoesBeforeFreeMemory) {  // 4
  EXPECT_THAT(addresses(pool_devices(taking({"gpu"}), host_with({kGiB, kGiB * 2}), {0})),
              ElementsAre("0000:0b:00.0"));
  EXPECT_THAT(addresses(pool_devices(taking({"gpu"}, {held_by(2, "0000:0b:00.0")}),
                                     host_with({kGiB * 2, kGiB}), {0})),
              ElementsAre("0000:8b:00.0"));
}

TEST(PoolDevicesTest, DevicesOfOneVmAreTakenNearEachOther) {
  EXPECT_THAT(addresses(pool_devices(taking({"gpu", "vf"}, {held_by(2, "0000:0b:00.0")}),
                                     host_with({kGiB * 2, kGiB}), kAnyNode)),
              ElementsAre("0000:8b:00.0", "0000:8a:00.1"));
}

TEST(PoolDevicesTest, NoDeviceIsTakenTwice) {  // 1
  EXPECT_THAT(addresses(pool_devices(taking({"gpu", "gpu"}, {held_by(2, "0000:8b:00.0")}),
                                     host_with({}), kAnyNode)),
              ElementsAre("0000:0b:00.0", "0000:8c:00.0"));
}

TEST(PoolDevicesTest, WhereNoneIsFreeItIsSaidWhichVmsHaveThem) {  // 1
  const auto choices =
      pool_devices(taking({"vf", "vf"}, {held_by(2, "0000:0a:00.1")}), host_with({}), kAnyNode);
  ASSERT_FALSE(choices.has_value());
  EXPECT_EQ(choices.error().code, ErrorCode::kNoSpace);
  EXPECT_THAT(choices.error().message,
              HasSubstr("no device of the pool 'vf' is free: 'vm2' has 0000:0a:00.1"));
}

TEST(PoolDevicesTest, APoolThatTheHostDoesNotHaveIsNamed) {
  const auto choices = pool_devices(taking({"fpga"}), host_with({}), kAnyNode);
  ASSERT_FALSE(choices.has_value());
  EXPECT_EQ(choices.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(choices.error().message, HasSubstr("'fpga'"));
}

TEST(PoolDevicesTest, AVmKeepsWhatItHas) {  // 2, 3
  AdviceRequest request = taking({"gpu", "gpu"}, {held_by(1, "0000:8c:00.0")});
  request.vm.pci_devices = {{"0000:8c:00.0", {1}}};
  EXPECT_THAT(addresses(pool_devices(request, host_with({kGiB * 2, kGiB}), {0})),
              ElementsAre("0000:8c:00.0", "0000:0b:00.0"));
}

TEST(PoolDevicesTest, WhatAnotherVmHasTooIsReplaced) {  // 2
  AdviceRequest request = taking({"gpu"}, {held_by(1, "0000:8c:00.0"), held_by(2, "0000:8c:00.0")});
  request.vm.pci_devices = {{"0000:8c:00.0", {1}}};
  const auto choices = pool_devices(request, host_with({kGiB, kGiB * 2}), kAnyNode);
  ASSERT_TRUE(choices.has_value()) << choices.error().message;
  EXPECT_EQ(choices->front().device, (AdvisedDevice{"0000:8b:00.0", "0000:8c:00.0"}));
  EXPECT_THAT(choices->front().reason, HasSubstr("'vm2' has 0000:8c:00.0, too"));
}

TEST(PoolDevicesTest, ADeviceWhoseNodeIsNotKnownComesLast) {
  AdviceRequest request = taking({"gpu"});
  request.pools = {{"gpu", {{"0000:01:00.0", {}}, {"0000:8b:00.0", {1}}}}};
  EXPECT_THAT(addresses(pool_devices(request, host_with({}), {0})), ElementsAre("0000:8b:00.0"));
  request.held = {held_by(2, "0000:8b:00.0")};
  EXPECT_THAT(addresses(pool_devices(request, host_with({}), {0})), ElementsAre("0000:01:00.0"));
}

}  // namespace
}  // namespace vmnuma
