// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::what_if;
using balancer::WhatIf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Node 0 is wanted twice as much as it can give, node 1 is idle.
Snapshot lopsided() {
  return SnapshotBuilder()
      .nodes(2, {.cores = 4, .memory_gib = 16})
      .vm({.name = "a", .homes = {0}, .vcpus = 4})
      .vm({.name = "b", .homes = {0}, .vcpus = 4})
      .build();
}

balancer::NewVm new_vm(std::int32_t vcpus, std::int64_t gib) {
  balancer::NewVm vm;
  vm.description = small_vm(200, "new-1", vcpus);
  vm.description.memory = vm.description.max_memory = kGiB * gib;
  vm.load = Permille{500};
  return vm;
}

TEST(WhatIfTest, NothingSupposedIsTheNextEpoch) {
  const Snapshot now = lopsided();
  const Options options;
  const WhatIf answer = what_if(now, options, {.options = options}, {});
  EXPECT_EQ(answer.before, answer.after);
  EXPECT_GT(answer.before.imbalance, Permille{400});
  EXPECT_EQ(answer.supposed.epoch, now.epoch + 1);
  Snapshot next = now;
  ++next.epoch;
  EXPECT_EQ(answer.plan.epoch, next.epoch);
  EXPECT_EQ(answer.plan.actions, balancer::make_plan(next, options, {}).actions);
}

TEST(WhatIfTest, WithoutTurnsWhatIsOwedInOneEpochHasNotLastedForMinutesEither) {
  const Snapshot now = lopsided();
  Options options;
  options.lterm_fairness_interval = 0;
  const WhatIf answer = what_if(now, options, {.options = options}, {});
  ASSERT_GT(now.clients[0].owed, CpuTime{});
  EXPECT_LT(answer.supposed.clients[0].owed_on_average * 10, now.clients[0].owed);
}

TEST(WhatIfTest, TheSnapshotStaysAsItIs) {
  const Snapshot now = lopsided();
  const Snapshot copy = now;
  (void)what_if(now, {}, {.added = {new_vm(2, 1)}, .removed = {now.vms[0].id}}, {});
  EXPECT_EQ(now, copy);
}

TEST(WhatIfTest, ARemovedVmOwesNothingAndLeavesItsMemory) {
  const Snapshot now = lopsided();
  const WhatIf answer = what_if(now, {}, {.removed = {now.vms[0].id}}, {});
  ASSERT_THAT(answer.supposed.vms, SizeIs(1));
  EXPECT_EQ(answer.supposed.vms[0].name, "b");
  EXPECT_EQ(answer.supposed.clients[0].vm, 0U);
  EXPECT_EQ(answer.supposed.vms[0].first_client, 0U);
  EXPECT_EQ(answer.supposed.nodes[0].free, now.nodes[0].free + kGiB);
  EXPECT_EQ(answer.after.lost.value, 0);
  EXPECT_EQ(answer.after.imbalance, Permille{0});
  EXPECT_THAT(answer.plan.actions, IsEmpty());
}

TEST(WhatIfTest, AMovedVmTakesItsMemoryAlong) {
  const Snapshot now = lopsided();
  const WhatIf answer = what_if(now, {}, {.moved = {{now.clients[1].id, 1}}}, {});
  EXPECT_EQ(answer.after.lost.value, 0);
  EXPECT_EQ(answer.after.locality, Permille{1000});
  EXPECT_EQ(answer.supposed.clients[1].home, 1U);
  EXPECT_EQ(answer.supposed.clients[1].memory[1], kGiB);
  EXPECT_THAT(answer.plan.actions, IsEmpty());
}

TEST(WhatIfTest, TwoThatChangePlacesFindEachOthersRoom) {
  const Snapshot now = SnapshotBuilder()
                           .nodes(2, {.cores = 4, .memory_gib = 9})
                           .vm({.name = "a", .homes = {0}, .memory_gib = {8, 0}})
                           .vm({.name = "b", .homes = {1}, .memory_gib = {0, 8}})
                           .build();
  const WhatIf answer =
      what_if(now, {}, {.moved = {{now.clients[0].id, 1}, {now.clients[1].id, 0}}}, {});
  EXPECT_GT(answer.after.locality, Permille{100});
  EXPECT_EQ(answer.supposed.clients[0].home, 1U);
  EXPECT_EQ(answer.supposed.clients[1].home, 0U);
}

TEST(WhatIfTest, ANewVmGetsTheNodeThatHasMostToGive) {
  const WhatIf answer = what_if(lopsided(), {}, {.added = {new_vm(4, 2)}}, {});
  ASSERT_THAT(answer.homes, SizeIs(1));
  EXPECT_EQ(answer.homes[0].home, 1U);
  EXPECT_EQ(answer.homes[0].elsewhere, Bytes{});
  ASSERT_THAT(answer.homes[0].considered, SizeIs(2));
  EXPECT_EQ(answer.homes[0].considered[0].node, 1U);
  EXPECT_EQ(answer.supposed.vms.back().name, "new-1");
  EXPECT_EQ(answer.supposed.nodes[1].free, kGiB * 14);
  EXPECT_EQ(answer.after.locality, Permille{1000});
}

TEST(WhatIfTest, NewVmsSeeThoseBeforeThem) {
  std::vector<balancer::NewVm> four;
  for (std::uint8_t number = 201; number < 205; ++number) {
    four.push_back(new_vm(4, 1));
    four.back().description.id = vm_id(number);
    four.back().load = Permille{1000};
  }
  const Snapshot empty = SnapshotBuilder().nodes(4, {.cores = 4}).build();
  std::vector<NodeIndex> homes;
  for (const balancer::NewHome& home : what_if(empty, {}, {.added = four}, {}).homes) {
    homes.push_back(home.home);
  }
  EXPECT_THAT(homes, testing::UnorderedElementsAre(0, 1, 2, 3));
}

TEST(WhatIfTest, WhatFindsNoRoomAtHomeLiesElsewhere) {
  // 16 GiB a node, 2 % of it in reserve.
  const WhatIf answer = what_if(SnapshotBuilder().nodes(2, {.cores = 4, .memory_gib = 16}).build(),
                                {}, {.added = {new_vm(4, 40)}}, {});
  ASSERT_THAT(answer.homes, SizeIs(1));
  const Bytes on_a_node = kGiB * 16 - kGiB * 16 * 2 / 100;
  EXPECT_EQ(answer.homes[0].elsewhere, on_a_node);
  EXPECT_EQ(answer.homes[0].nowhere, kGiB * 40 - on_a_node * 2);
  EXPECT_EQ(answer.after.locality, Permille{500});
}

TEST(WhatIfTest, AWideVmHasAHomeForEachClient) {
  const WhatIf answer =
      what_if(SnapshotBuilder().nodes(2, {.cores = 4}).build(), {}, {.added = {new_vm(8, 8)}}, {});
  ASSERT_THAT(answer.homes, SizeIs(2));
  EXPECT_NE(answer.homes[0].home, answer.homes[1].home);
  EXPECT_EQ(answer.homes[1].client.index, 1);
}

TEST(WhatIfTest, OptionsSteerThePlan) {
  Options still;
  still.rebalance_enable = 0;
  EXPECT_THAT(what_if(lopsided(), {}, {.options = still}, {}).plan.actions, IsEmpty());
  Options reserve;
  reserve.node_reserve_pct = 50;
  const WhatIf answer = what_if(lopsided(), {}, {.added = {new_vm(4, 10)}, .options = reserve}, {});
  EXPECT_EQ(answer.homes[0].elsewhere, kGiB * 2);
}

// ---- the command ----

class WhatIfCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint8_t number = 1; number <= 2; ++number) {
      host_.start(small_vm(number, "vm" + std::to_string(number), 2), 0, 100);
    }
    (void)host_.report_domains();
  }
  Result<balancer::Answer> ask(const balancer::WhatIfRequest& request) {
    return host_.controller().on(balancer::CommandReceived{7, request}).replies.at(0).answer;
  }
  balancer::WhatIfView view(const balancer::WhatIfRequest& request) {
    return std::get<balancer::WhatIfView>(ask(request).value());
  }
  std::string refusal(const balancer::WhatIfRequest& request) {
    const auto answer = ask(request);
    return answer ? "accepted" : answer.error().message;
  }
  void measure() {
    (void)host_.epoch();
    host_.carry_out(host_.epoch());
    (void)host_.epoch();
  }

  HostStory host_{2, balancer::Mode::kActive};
};

TEST_F(WhatIfCommandTest, AnswersOnTheLastEpoch) {
  measure();
  const auto answer = view({.add = {{.vcpus = 2, .memory_bytes = kVmMemory.value}}});
  EXPECT_EQ(answer.epoch, 3);
  EXPECT_EQ(answer.plan.epoch, 4);
  EXPECT_EQ(answer.plan.mode, balancer::Mode::kActive);
  ASSERT_THAT(answer.homes, SizeIs(1));
  EXPECT_EQ(answer.homes[0].vm, "new-1");
  EXPECT_EQ(answer.homes[0].vcpus, 2);
  EXPECT_THAT(answer.homes[0].considered, SizeIs(2));
  EXPECT_GT(answer.after.lost_ms, answer.before.lost_ms);
  EXPECT_THAT(answer.notes, IsEmpty());
}

TEST_F(WhatIfCommandTest, SaysWhenMovesCouldMakeRoomOnOneNode) {
  measure();
  // Nearly 512 MiB are free on each node of 1 GiB.
  const auto add = [](std::int64_t mib) {
    return balancer::WhatIfRequest{.add = {{.vcpus = 1, .memory_bytes = mib << 20U}}};
  };
  EXPECT_THAT(view(add(700)).notes,
              ElementsAre(HasSubstr("'vmnuma make-room --vcpus 1 --memory 700MiB'")));
  EXPECT_THAT(view(add(400)).notes, IsEmpty());
  EXPECT_THAT(view(add(1020)).notes, Not(Contains(HasSubstr("make-room"))));
}

TEST_F(WhatIfCommandTest, ChangesNothing) {
  measure();
  const Snapshot before = host_.controller().snapshot();
  const balancer::Effects effects = host_.controller().on(balancer::CommandReceived{
      7, balancer::WhatIfRequest{.remove = {"vm1"}, .options = {{"Numa.MigThreshold", 9}}}});
  EXPECT_THAT(effects.orders, IsEmpty());
  EXPECT_THAT(effects.homes, IsEmpty());
  EXPECT_THAT(effects.log, IsEmpty());
  EXPECT_EQ(host_.controller().snapshot(), before);
  EXPECT_EQ(host_.controller().ledger().options().mig_threshold, 2);
}

TEST_F(WhatIfCommandTest, HomesGivenInTheLastEpochCount) {
  (void)host_.epoch();
  const balancer::Effects placed = host_.epoch();
  ASSERT_THAT(placed.orders, SizeIs(2));
  // Nothing is left to be placed, though the snapshot was taken before.
  EXPECT_THAT(view({}).plan.actions, IsEmpty());
}

TEST_F(WhatIfCommandTest, WhatItCannotKnowIsNoted) {
  measure();
  EXPECT_THAT(view({.options = {{"Numa.PreferHT", 1}}}).notes,
              ElementsAre(HasSubstr("Numa.PreferHT")));
  EXPECT_THAT(view({.add = {{.vcpus = 1, .memory_bytes = kGiB.value * 8}}}).notes,
              ElementsAre(HasSubstr("7 GiB of the new VMs' memory have no room on any node")));
}

TEST_F(WhatIfCommandTest, SupposesAsManyClientsAsItMayAndNoMore) {
  measure();
  // A client for every two vCPUs, on nodes of two cores.
  const balancer::WhatIfRequest::NewVm wide{.vcpus = 16, .memory_bytes = kVmMemory.value};
  EXPECT_THAT(view({.add = {64, wide}}).homes, SizeIs(balancer::kMostNewClients));
  EXPECT_THAT(
      refusal({.add = {{.vcpus = 1, .memory_bytes = 1}, {.vcpus = 1024, .memory_bytes = 1}}}),
      HasSubstr("more than 512 clients"));
  EXPECT_THAT(refusal({.add = {64, {.vcpus = 4096, .memory_bytes = 1}}}),
              HasSubstr("more than 512 clients"));
}

TEST_F(WhatIfCommandTest, BadInputTellsWhatIsWrong) {
  EXPECT_THAT(refusal({}), HasSubstr("nothing has been measured yet"));
  measure();
  EXPECT_EQ(refusal({.remove = {"vm11"}}), "there is no running VM 'vm11'; did you mean 'vm1'?");
  EXPECT_EQ(refusal({.move = {{"vm1", {7}, {}}}}), "node 7 cannot be a home on this host");
  EXPECT_EQ(refusal({.move = {{"vm1", {1}, 3}}}), "VM 'vm1' has no client 3");
  EXPECT_EQ(refusal({.remove = {"vm1"}, .move = {{"vm1", {1}, {}}}}),
            "VM 'vm1' cannot be both removed and moved");
  EXPECT_EQ(refusal({.move = {{"vm1", {1}, {}}, {"vm1", {0}, {}}}}),
            "VM 'vm1' cannot be both on one node and on another");
  EXPECT_THAT(refusal({.options = {{"Numa.MigTreshold", 1}}}), HasSubstr("Numa.MigThreshold"));
  EXPECT_THAT(refusal({.options = {{"Numa.MigThreshold", 101}}}), HasSubstr("100"));
  EXPECT_THAT(refusal({.add = {{.vcpus = 0, .memory_bytes = 1}}}), HasSubstr("0 vCPUs"));
  EXPECT_THAT(refusal({.add = {{.vcpus = 1, .memory_bytes = 0}}}), HasSubstr("0 bytes of memory"));
  EXPECT_THAT(refusal({.add = {{.vcpus = 1, .memory_bytes = 1, .load_pct = 101}}}),
              HasSubstr("101 %"));
  EXPECT_THAT(refusal({.add = {{.vcpus = 1, .memory_bytes = 1, .weight = 0}}}),
              HasSubstr("weight"));
}

}  // namespace
}  // namespace vmnuma::tests
