// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/planner.h"
#include "placement/memory_room.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using tests::actions_of;
using tests::client_of;
using tests::SnapshotBuilder;

constexpr Bytes kHugePage = kMiB * 2;

VmDescription vm(std::uint8_t number, Bytes memory, std::int32_t vcpus = 2) {
  VmDescription description;
  description.id.uuid.fill(number);
  description.name = "vm" + std::to_string(number);
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    description.vcpus.push_back(vcpu);
  }
  description.max_vcpus = vcpus;
  description.memory = description.max_memory = memory;
  return description;
}

VmDescription of_group(VmDescription vm, const std::string& group) {
  vm.policy.affinity_group = group;
  return vm;
}

Reservation reservation(const std::string& name, std::int32_t node, Bytes memory) {
  Reservation made;
  made.name = made.vm = made.group = name;
  made.vcpus = 8;
  made.homes = {NodeId{node}};
  made.memory = {{NodeId{node}, Bytes{}, memory}};
  return made;
}

Reservation shared(const std::string& name, std::int32_t node, Bytes memory) {
  Reservation made = reservation(name, node, memory);
  made.shared = true;
  return made;
}

/// All VMs run but that one.
std::function<bool(const VmId&)> all_but(std::uint8_t number) {
  return [number](const VmId& id) { return id != vm(number, Bytes{}).id; };
}

Snapshot host() {
  return SnapshotBuilder()
      .nodes(2, {.cores = 4, .memory_gib = 64, .huge_gib = 8})
      .vm({.name = "a", .homes = {0}, .vcpus = 4})
      .vm({.name = "b", .homes = {0}, .vcpus = 4})
      .vm({.name = "h", .homes = {0}, .vcpus = 1, .busy_pct = 5, .huge_pages = true})
      .build();
}

TEST(ReservationsTest, ReservedMemoryOfTheNodeIsNoRoomForAnyVm) {
  Snapshot snapshot = host();
  const MemoryRoom before(snapshot);
  Reservations reservations({reservation("x", 1, kGiB * 3)});
  reservations.keep_in(snapshot);
  const MemoryRoom after(snapshot);
  EXPECT_EQ(before.ordinary(1) - after.ordinary(1), kGiB * 3);
  EXPECT_EQ(before.ordinary(0), after.ordinary(0));
  EXPECT_EQ(reservations_of(snapshot.nodes[1], Bytes{}), kGiB * 3);
}

TEST(ReservationsTest, HugePagesAreTakenFromTheirPoolAlone) {
  Snapshot snapshot = host();
  const MemoryRoom before(snapshot);
  Reservation huge = reservation("x", 1, kGiB * 3);
  huge.memory.front().page_size = kHugePage;
  Reservations({huge}).keep_in(snapshot);
  const MemoryRoom after(snapshot);
  const ClientIndex client = client_of(snapshot, "h");
  EXPECT_EQ(before.of(client, 1) - after.of(client, 1), kGiB * 3);
  EXPECT_EQ(before.ordinary(1), after.ordinary(1));
}

TEST(ReservationsTest, OnceTheyAreGoneTheSnapshotIsAsBefore) {
  const Snapshot before = host();
  Snapshot snapshot = before;
  Reservations({reservation("x", 1, kGiB * 3), reservation("y", 1, kGiB), reservation("z", 0, kGiB),
                reservation("nowhere", 7, kGiB)})
      .keep_in(snapshot);
  EXPECT_NE(snapshot, before);
  Reservations().keep_in(snapshot);
  EXPECT_EQ(snapshot, before);
}

TEST(ReservationsTest, NoMoveGoesWhereOnlyReservedMemoryIsFree) {
  Snapshot snapshot = host();
  const Options options = options_of(Preset::kEsxi);
  EXPECT_THAT(actions_of(snapshot, make_plan(snapshot, options, {})), SizeIs(1));
  Reservations({reservation("x", 1, snapshot.nodes[1].free - snapshot.nodes[1].reserve - kMiB)})
      .keep_in(snapshot);
  EXPECT_THAT(actions_of(snapshot, make_plan(snapshot, options, {})), IsEmpty());
}

TEST(ReservationsTest, AVmTakesUpWhatIsForItByNameAndThatIsItsEnd) {
  Reservations reservations({reservation("vm1", 1, kGiB * 3)});
  EXPECT_THAT(reservations.take_up(vm(2, kGiB), {}), IsEmpty());
  const std::vector<TakenUp> taken = reservations.take_up(vm(1, kGiB), {});
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].memory, kGiB);
  EXPECT_TRUE(taken[0].ended);
  EXPECT_THAT(taken[0].nodes, ElementsAre(NodeId{1}));
  EXPECT_THAT(reservations.all(), IsEmpty());
}

TEST(ReservationsTest, AVmIsKnownByItsUuidToo) {
  Reservation by_uuid = reservation("x", 1, kGiB);
  by_uuid.vm = by_uuid.group = "";
  by_uuid.vm_id = vm(1, kGiB).id;
  EXPECT_TRUE(by_uuid.is_for(vm(1, kGiB)));
  EXPECT_FALSE(by_uuid.is_for(vm(2, kGiB)));
  EXPECT_FALSE(by_uuid.is_for(of_group(vm(2, kGiB), "")));
}

TEST(ReservationsTest, VmsOfAGroupTakeUpTheirPartsUntilNothingIsLeft) {
  Reservations reservations({reservation("web", 1, kGiB * 3)});
  EXPECT_EQ(reservations.take_up(of_group(vm(1, kGiB * 2), "web"), {}).front().ended, false);
  ASSERT_THAT(reservations.all(), SizeIs(1));
  EXPECT_EQ(reservations.all().front().memory_left(), kGiB);
  EXPECT_EQ(reservations.all().front().vcpus, 6);
  EXPECT_THAT(reservations.take_up(of_group(vm(1, kGiB * 2), "web"), {}),
              IsEmpty());  // it has its own
  EXPECT_THAT(reservations.take_up(of_group(vm(3, kGiB), "db"), {}), IsEmpty());
  const std::vector<TakenUp> taken = reservations.take_up(of_group(vm(2, kGiB * 2), "web"), {});
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].memory, kGiB);
  EXPECT_TRUE(taken[0].ended);
  EXPECT_THAT(reservations.all(), IsEmpty());
}

TEST(ReservationsTest, AVmTakesUpEvenSharesWhereItWasToldToStartBeforeAnythingElsewhere) {
  Reservation web = reservation("web", 0, kGiB * 4);
  web.memory = {{NodeId{0}, Bytes{}, kGiB * 4},
                {NodeId{1}, Bytes{}, kGiB * 4},
                {NodeId{2}, Bytes{}, kGiB * 4}};
  Reservations reservations({web});
  (void)reservations.take_up(of_group(vm(1, kGiB * 3), "web"), {NodeId{1}});
  EXPECT_THAT(reservations.all().front().memory,
              ElementsAre(MemoryOnNode{NodeId{0}, Bytes{}, kGiB * 4},
                          MemoryOnNode{NodeId{1}, Bytes{}, kGiB},
                          MemoryOnNode{NodeId{2}, Bytes{}, kGiB * 4}));
  // Half of it on each; node 1 has less than that left, node 0 is the first that has more.
  (void)reservations.take_up(of_group(vm(2, kGiB * 4), "web"), {NodeId{1}, NodeId{2}});
  EXPECT_THAT(reservations.all().front().memory,
              ElementsAre(MemoryOnNode{NodeId{0}, Bytes{}, kGiB * 3},
                          MemoryOnNode{NodeId{2}, Bytes{}, kGiB * 2}));
}

TEST(ReservationsTest, AnAntiAffinityGroupIsAGroup) {
  VmDescription apart = vm(1, kGiB);
  apart.policy.anti_affinity_group = "web";
  EXPECT_TRUE(reservation("web", 0, kGiB).is_for(apart));
}

TEST(ReservationsTest, AnOwnerIsThatOfThePolicyOrElseNovasProject) {
  Reservation of_owner = reservation("x", 0, kGiB);
  of_owner.vm = of_owner.group = "";
  of_owner.owner = "shop";
  VmDescription owned = vm(1, kGiB);
  EXPECT_FALSE(of_owner.is_for(owned));
  owned.nova_project = {"shop", "83c8"};
  EXPECT_TRUE(of_owner.is_for(owned));
  of_owner.owner = "83c8";
  EXPECT_TRUE(of_owner.is_for(owned));
  EXPECT_EQ(owner_of(owned), "shop");
  owned.policy.owner = "bank";
  EXPECT_FALSE(of_owner.is_for(owned));
  of_owner.owner = "bank";
  EXPECT_TRUE(of_owner.is_for(owned));
  EXPECT_FALSE(of_owner.is_for_by_name(owned));
  EXPECT_EQ(owner_of(owned), "bank");
  of_owner.owner = "";
  EXPECT_FALSE(of_owner.is_for(vm(2, kGiB)));
}

TEST(ReservationsTest, WhatIsForAVmByNameIsTakenBeforeWhatIsForItsGroup) {
  Reservations reservations({reservation("web", 1, kGiB * 3), reservation("vm1", 0, kGiB * 2)});
  const std::vector<TakenUp> taken = reservations.take_up(of_group(vm(1, kGiB * 2), "web"), {});
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].reservation, "vm1");
  EXPECT_EQ(reservations.all().front().memory_left(), kGiB * 3);
}

TEST(ReservationsTest, PagesOfOneSizeAreNotTakenForThoseOfAnother) {
  Reservation huge = reservation("web", 1, kGiB * 3);
  huge.memory.front().page_size = kHugePage;
  Reservations reservations({huge});
  EXPECT_THAT(reservations.take_up(of_group(vm(1, kGiB), "web"), {}), IsEmpty());
  VmDescription on_huge_pages = of_group(vm(2, kGiB), "web");
  on_huge_pages.huge_page_size = kHugePage;
  EXPECT_EQ(reservations.take_up(on_huge_pages, {}).front().memory, kGiB);
}

TEST(ReservationsTest, AVmThatStoppedMayTakeUpAgainWhatIsLeft) {
  Reservations reservations({reservation("web", 1, kGiB * 3)});
  EXPECT_THAT(reservations.take_up(of_group(vm(1, kGiB), "web"), {}), SizeIs(1));
  EXPECT_FALSE(reservations.forget_stopped([](const VmId&) { return true; }));
  EXPECT_TRUE(reservations.forget_stopped([](const VmId&) { return false; }));
  EXPECT_THAT(reservations.take_up(of_group(vm(1, kGiB), "web"), {}), SizeIs(1));
  EXPECT_EQ(reservations.all().front().memory_left(), kGiB);
}

TEST(ReservationsTest, WhatAVmHasTakenOfASharedOneComesBackWhenItHasStopped) {
  const Reservation at_first = shared("web", 1, kGiB * 3);
  Reservations reservations({at_first});
  const std::vector<TakenUp> taken =
      reservations.take_up(of_group(vm(1, kGiB * 2, 3), "web"), {NodeId{1}});
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].memory, kGiB * 2);
  EXPECT_FALSE(taken[0].ended);
  EXPECT_EQ(reservations.all().front().memory_left(), kGiB);
  EXPECT_EQ(reservations.all().front().vcpus, 5);
  EXPECT_EQ(reservations.forget_stopped(all_but(2)), std::nullopt);
  const auto back = reservations.forget_stopped(all_but(1));
  ASSERT_TRUE(back);
  ASSERT_THAT(*back, SizeIs(1));
  EXPECT_EQ(back->front().reservation, "web");
  EXPECT_EQ(back->front().vm_name, "vm1");
  EXPECT_EQ(back->front().memory, kGiB * 2);
  EXPECT_THAT(reservations.all(), ElementsAre(at_first));
}

TEST(ReservationsTest, ASharedOneStaysAlsoIfNothingIsLeftOfItAndLeadsNoVmThen) {
  for (const bool by_name : {false, true}) {
    Reservation web = shared(by_name ? "vm1" : "web", 1, kGiB);
    web.group = by_name ? "" : "web";
    Reservations reservations({web});
    EXPECT_THAT(reservations.take_up(of_group(vm(1, kGiB), "web"), {}), SizeIs(1));
    ASSERT_THAT(reservations.all(), SizeIs(1));
    EXPECT_EQ(reservations.all().front().memory_left(), Bytes{});
    EXPECT_THAT(reservations.take_up(of_group(vm(2, kGiB), "web"), {}), IsEmpty());
    Reservations for_another = reservations;
    EXPECT_THAT(for_another.open_for(of_group(vm(3, kGiB), "web")), IsEmpty());
    EXPECT_TRUE(reservations.forget_stopped(all_but(1)));
    EXPECT_EQ(reservations.all().front().memory_left(), kGiB);
  }
}

TEST(ReservationsTest, WhatIsLeftOfASharedOneAndWhatIsTakenAreWhatWasReserved) {
  Reservation web = shared("web", 0, kGiB * 2);
  web.memory = {
      {NodeId{0}, Bytes{}, kGiB * 2}, {NodeId{0}, kHugePage, kGiB}, {NodeId{1}, Bytes{}, kGiB * 3}};
  Reservations reservations({web});
  VmDescription on_huge_pages = of_group(vm(2, kGiB * 2), "web");  // more than there is
  on_huge_pages.huge_page_size = kHugePage;
  (void)reservations.take_up(of_group(vm(1, kGiB * 4), "web"), {NodeId{1}});
  (void)reservations.take_up(on_huge_pages, {});
  (void)reservations.take_up(of_group(vm(3, kGiB * 9), "web"), {NodeId{0}});
  EXPECT_EQ(reservations.all().front().memory_left(), Bytes{});
  EXPECT_EQ(reservations.all().front().vcpus, 2);
  EXPECT_TRUE(reservations.forget_stopped(all_but(3)));
  EXPECT_THAT(reservations.all().front().memory,
              ElementsAre(MemoryOnNode{NodeId{0}, Bytes{}, kGiB}));
  EXPECT_TRUE(reservations.forget_stopped(all_but(1)));
  EXPECT_THAT(reservations.all().front().memory,
              ElementsAre(MemoryOnNode{NodeId{0}, Bytes{}, kGiB * 2},
                          MemoryOnNode{NodeId{1}, Bytes{}, kGiB * 3}));
  EXPECT_TRUE(reservations.forget_stopped(all_but(2)));
  EXPECT_THAT(reservations.all(), ElementsAre(web));
}

TEST(ReservationsTest, AVmThatRanBeforeHasNothingThatComesBackToASharedOne) {
  Reservation web = shared("web", 1, kGiB);
  web.served = {vm(1, kGiB).id};
  Reservations reservations({web});
  EXPECT_THAT(reservations.take_up(of_group(vm(1, kGiB), "web"), {}), IsEmpty());
  EXPECT_THAT(reservations.forget_stopped(all_but(1)).value(), IsEmpty());
  EXPECT_EQ(reservations.all().front().memory_left(), kGiB);
}

TEST(ReservationsTest, IsOverAtItsTimeAndNotBefore) {
  Reservation limited = reservation("x", 1, kGiB);
  limited.until_unix_s = 100;
  Reservations reservations({limited, reservation("y", 1, kGiB)});
  EXPECT_THAT(reservations.expire(99), IsEmpty());
  EXPECT_THAT(reservations.expire(100), ElementsAre(limited));
  EXPECT_EQ(reservations.find("x"), nullptr);
  EXPECT_NE(reservations.find("y"), nullptr);
}

TEST(ReservationsTest, IsOpenOnlyForTheVmThatItIsFor) {
  Reservations reservations({reservation("vm1", 1, kGiB), reservation("y", 0, kGiB)});
  Reservations for_other = reservations;
  EXPECT_THAT(for_other.open_for(vm(2, kGiB)), IsEmpty());
  EXPECT_EQ(for_other.all(), reservations.all());
  EXPECT_THAT(reservations.open_for(vm(1, kGiB)), ElementsAre(NodeId{1}));
  EXPECT_EQ(reservations.find("vm1"), nullptr);
  EXPECT_NE(reservations.find("y"), nullptr);
}

}  // namespace
}  // namespace vmnuma::balancer
