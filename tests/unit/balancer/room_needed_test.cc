// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/room_needed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::advice_on_room;
using balancer::moves_could_help;
using balancer::room_needed;
using balancer::RoomNeeded;
using testing::ElementsAre;
using testing::HasSubstr;

/// Three nodes of 1 GiB, each with so much room.
struct Host {
  explicit Host(std::vector<Bytes> room) {
    snapshot.topology = small_host(3);
    snapshot.nodes.resize(3);
    for (NodeState& node : snapshot.nodes) {
      node.known = true;
      node.total = kGiB;
      node.reserve = kMiB * 20;
    }
    free.room = std::move(room);
  }
  Snapshot snapshot;
  FreeForVm free;
};

RoomNeeded mib_of(std::int64_t mib, std::vector<NodeId> nodes = {{0}, {1}, {2}}) {
  return {2, kMiB * mib, Bytes{}, std::move(nodes)};
}

TEST(RoomNeededTest, IsAllOfTheVmOnAnyNodeThatItMayUse) {
  VmDescription vm = small_vm(1, "db", 2);
  EXPECT_EQ(room_needed(small_host(3), vm), (RoomNeeded{2, kVmMemory, Bytes{}, {{0}, {1}, {2}}}));
  vm.policy.nodes = {{1}, {2}};
  EXPECT_THAT(room_needed(small_host(3), vm)->nodes, ElementsAre(NodeId{1}, NodeId{2}));
  vm.pci_devices = {{"0000:3b:00.0", {2}}};
  EXPECT_THAT(room_needed(small_host(3), vm)->nodes, ElementsAre(NodeId{2}));
}

TEST(RoomNeededTest, IsNothingWhereOneNodeCannotHaveItAll) {
  VmDescription vm = small_vm(1, "db", 2);
  vm.pci_devices = {{"0000:3b:00.0", {0}}, {"0000:5e:00.0", {2}}};
  EXPECT_FALSE(room_needed(small_host(3), vm));
  vm.pci_devices.clear();
  vm.cells = {{0, {0}, kVmMemory / 2, Bytes{}}, {1, {1}, kVmMemory / 2, kMiB * 2}};
  EXPECT_FALSE(room_needed(small_host(3), vm));
}

TEST(RoomNeededTest, MovesCouldHelpWhereANodeIsLargeEnoughAndAllHaveAsMuch) {
  const Host host({kMiB * 300, kMiB * 300, kMiB * 300});
  EXPECT_TRUE(moves_could_help(host.snapshot, host.free, mib_of(900)));
  EXPECT_FALSE(moves_could_help(host.snapshot, host.free, mib_of(901)));
  EXPECT_FALSE(moves_could_help(host.snapshot, host.free, {3, kMiB * 400, Bytes{}, {{0}}}));
  const Host full({kMiB * 2000, kMiB * -900, Bytes{}});
  EXPECT_TRUE(moves_could_help(full.snapshot, full.free, mib_of(1004, {{1}, {2}})));
  EXPECT_FALSE(moves_could_help(full.snapshot, full.free, mib_of(1005, {{1}, {2}})));
}

TEST(RoomNeededTest, WhereANodeHasItAlreadyMovesAreNotWhatIsMissing) {
  const Host host({kMiB * 300, kMiB * 600, kMiB * 300});
  EXPECT_FALSE(moves_could_help(host.snapshot, host.free, mib_of(500)));
  EXPECT_TRUE(moves_could_help(host.snapshot, host.free, mib_of(500, {{0}, {2}})));
}

TEST(RoomNeededTest, HugePagesAreCountedByTheirPools) {
  Host host({Bytes{}, Bytes{}, Bytes{}});
  host.free.huge_pages = {{{0}, 100, 300, kMiB * 2}, {{1}, 100, 300, kMiB * 2}};
  const RoomNeeded needed{2, kMiB * 400, kMiB * 2, {{0}, {1}, {2}}};
  EXPECT_TRUE(moves_could_help(host.snapshot, host.free, needed));
  EXPECT_FALSE(moves_could_help(host.snapshot, host.free, {2, kMiB * 402, kMiB * 2, {{0}}}));
  EXPECT_FALSE(moves_could_help(host.snapshot, host.free, {2, kMiB * 400, kMiB * 2, {{2}}}));
  EXPECT_THAT(advice_on_room(host.snapshot, host.free, needed), HasSubstr(" --hugepages 2MiB'"));
}

TEST(RoomNeededTest, TheAdviceIsACommandThatAsksForTheSame) {
  const Host host({kMiB * 300, kMiB * 300, kMiB * 300});
  EXPECT_THAT(advice_on_room(host.snapshot, host.free, mib_of(500)),
              HasSubstr("'vmnuma make-room --vcpus 2 --memory 500MiB' shows"));
  EXPECT_THAT(advice_on_room(host.snapshot, host.free, mib_of(500, {{0}, {1}})),
              HasSubstr("'vmnuma make-room --vcpus 2 --memory 500MiB --on 0-1' shows"));
  EXPECT_EQ(advice_on_room(host.snapshot, host.free, mib_of(1000)), "");
}

}  // namespace
}  // namespace vmnuma::tests
