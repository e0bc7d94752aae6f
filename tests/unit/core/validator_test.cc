// SPDX-License-Identifier: Apache-2.0
/// Sound plans, each with one thing made wrong.
#include "balancer/core/validator.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tests::actions_of;
using tests::client_of;
using tests::kCpu;
using tests::SnapshotBuilder;

/// A plan with all that goes with it, to be made wrong.
struct Case {
  Snapshot snapshot;
  Options options = tests::walls();
  Circumstances circumstances;
  Plan plan;

  Case(Snapshot made, const Options& with) : snapshot(std::move(made)), options(with) {
    plan = make_plan(snapshot, options, circumstances);
    EXPECT_FALSE(plan.actions.empty());
    EXPECT_THAT(violations(), IsEmpty());
  }
  [[nodiscard]] std::vector<std::string> violations() const {
    return violations_of(plan, snapshot, options, circumstances);
  }
  Action& action() { return plan.actions.front(); }
  ClientState& client(const char* vm) { return snapshot.clients[client_of(snapshot, vm)]; }
  VmState& vm(const char* name) { return snapshot.vms[client(name).vm]; }
};

/// Two VMs of 4 CPUs on a node of 4, another node empty: one of them moves.
Case load_move() {
  Case made(SnapshotBuilder()
                .nodes(2, {.cores = 4})
                .vm({.name = "a", .vcpus = 4})
                .vm({.name = "b", .vcpus = 4})
                .build(),
            {});
  EXPECT_THAT(actions_of(made.snapshot, made.plan), ElementsAre("load-move a:0->1"));
  return made;
}

/// 11 CPUs wanted on a node of 8 and 5 on the other: only an exchange evens it out.
Case load_swap() {
  Options options = tests::walls();
  options.mig_thrash_threshold = 0;
  Case made(SnapshotBuilder()
                .options(options)
                .nodes(2, {.cores = 8})
                .vm({.name = "a", .homes = {0}, .vcpus = 6})
                .vm({.name = "b", .homes = {0}, .vcpus = 5})
                .vm({.name = "c", .homes = {1}, .vcpus = 3})
                .vm({.name = "d", .homes = {1}, .vcpus = 2})
                .build(),
            options);
  return made;
}

/// All memory on the other node and room for the client there.
Case locality_move() {
  Case made(SnapshotBuilder()
                .nodes(2, {.cores = 8})
                .vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {0, 8}})
                .build(),
            {});
  EXPECT_THAT(actions_of(made.snapshot, made.plan), ElementsAre("locality-move a:0->1"));
  return made;
}

Case pull() {
  Case made(SnapshotBuilder()
                .nodes(2, {.cores = 8})
                .vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {6, 2}})
                .build(),
            {});
  EXPECT_THAT(actions_of(made.snapshot, made.plan), ElementsAre("memory-pull a:0"));
  return made;
}

Case first_home() {
  Case made(SnapshotBuilder()
                .nodes(2, {.cores = 8})
                .vm({.name = "a", .homes = {kNoNode}, .vcpus = 2})
                .build(),
            {});
  return made;
}

using Break = std::function<void(Case&)>;

std::vector<std::string> broken(Case made, const Break& how) {
  how(made);
  return made.violations();
}

TEST(ValidatorTest, FindsNothingInAnEmptyPlan) {
  const Snapshot snapshot = SnapshotBuilder().nodes(2, {}).vm({.name = "a"}).build();
  EXPECT_THAT(violations_of(make_plan(snapshot, tests::walls(), {}), snapshot, tests::walls(), {}),
              IsEmpty());
}

TEST(ValidatorTest, NamesAPlanOfAnotherEpoch) {
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.plan.epoch = 7; }),
              ElementsAre("the plan is for epoch 7, not 30"));
}

TEST(ValidatorTest, NamesUnknownClientsAndNodes) {
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.action().relocations[0].client.index = 3; }),
              ElementsAre("action 1 (load-move): there is no such client"));
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.action().relocations[0].to = 2; }),
              ElementsAre(HasSubstr("'a'/0 goes to a node that cannot be a home")));
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.snapshot.topology.nodes[1].memory = Bytes{}; }),
              Contains(HasSubstr("'a'/0 goes to a node that cannot be a home")));
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.action().relocations.clear(); }),
              ElementsAre(HasSubstr("it does nothing")));
}

TEST(ValidatorTest, NamesAClientThatIsInThePlanTwice) {
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.plan.actions.push_back(it.action()); }),
              ElementsAre("action 2 (load-move): 'a'/0 is in the plan twice"));
}

/// A wide VM on a node of half its size: one of its clients goes over.
Case move_of_one_of_two() {
  Case made(SnapshotBuilder()
                .nodes(2, {.cores = 4})
                .vm({.name = "a", .homes = {0, 0}, .vcpus = 8})
                .build(),
            {});
  EXPECT_THAT(made.plan.actions, SizeIs(1));
  return made;
}

TEST(ValidatorTest, NamesVmsThatAreInTwoActions) {
  const auto both = [](Case& it) {
    it.plan.actions.push_back(it.action());
    it.plan.actions.back().relocations[0].client.index ^= 1;
  };
  EXPECT_THAT(broken(move_of_one_of_two(), both),
              Contains("action 2 (load-move): VM 'a' is in two actions"));
}

TEST(ValidatorTest, NamesFiguresThatDoNotFollowFromTheActionBefore) {
  EXPECT_THAT(broken(move_of_one_of_two(),
                     [](Case& it) {
                       it.plan.actions.push_back(it.action());
                       it.plan.actions.back().relocations[0].client.index ^= 1;
                       it.plan.actions.back().predicted.lost_before += kCpu;
                     }),
              Contains(HasSubstr("its figures do not begin where those before end")));
}

TEST(ValidatorTest, NamesWhatTheReasonDoesNotMean) {
  const auto as = [](Reason reason) { return [reason](Case& it) { it.action().reason = reason; }; };
  EXPECT_THAT(broken(load_move(), as(Reason::kAdministrator)),
              Contains(HasSubstr("not for a plan to do")));
  EXPECT_THAT(broken(load_move(), as(Reason::kLoadSwap)),
              Contains(HasSubstr("two clients that change places")));
  EXPECT_THAT(broken(load_move(), as(Reason::kMemoryPull)),
              Contains(HasSubstr("does not live where it is taken from, or does not go anywhere")));
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.action().relocations[0].from = 1; }),
              Contains(HasSubstr("does not live where it is taken from")));
  EXPECT_THAT(broken(load_swap(), as(Reason::kLocalityMove)),
              Contains(HasSubstr("moves more clients than it may")));
}

TEST(ValidatorTest, NamesAClientThatMustNotBeMoved) {
  const std::vector<std::pair<Break, std::string>> cases{
      {[](Case& it) { it.vm("a").fresh = false; }, "has no readings"},
      {[](Case& it) {
         it.vm("a").fresh = false;
         it.vm("a").epochs_stale = 100;
       },
       "has no readings"},
      {[](Case& it) { it.vm("a").measured = false; }, "has never been measured"},
      {[](Case& it) { it.snapshot.nodes[0].known = false; }, "leaves a node without readings"},
      {[](Case& it) { it.snapshot.nodes[1].known = false; }, "goes to a node without readings"},
      {[](Case& it) { it.vm("a").policy.do_not_move = true; },
       "is not to be moved, says the administrator"},
      {[](Case& it) { it.client("a").moving = true; }, "is being moved already"},
      {[](Case& it) { it.client("a").epochs_here = 4; },
       "has been on its node for 4 epochs, less than Numa.Residency"},
      {[](Case& it) {
         it.client("a").epochs_here = 6;
         it.client("a").came_from = 1;
       },
       "goes back after 6 epochs, less than Numa.NoReturn"},
      {[](Case& it) { it.client("a").allowed = {0}; }, "goes to a node that it may not use"},
  };
  for (const auto& [how, text] : cases) {
    EXPECT_THAT(broken(load_move(), how), Contains(HasSubstr("'a'/0 " + text)));
  }
}

TEST(ValidatorTest, NamesWhatIsSwitchedOffOrNotDue) {
  const std::vector<std::pair<Break, std::string>> cases{
      {[](Case& it) { it.options.rebalance_enable = 0; }, "Numa.RebalanceEnable is 0"},
      {[](Case& it) { it.circumstances.breaker_open = true; }, "breaker is open"},
      {[](Case& it) { it.options.rebalance_cores_total = 9; }, "Numa.RebalanceCoresTotal"},
      {[](Case& it) { it.options.rebalance_cores_node = 5; }, "Numa.RebalanceCoresNode"},
      {[](Case& it) { it.options.swap_migrate_only = 0; }, "Numa.SwapMigrateOnly"},
      {[](Case& it) { it.options.swap_migrate_only = 7; }, "Numa.SwapMigrateOnly"},
      {[](Case& it) { it.options.mig_imbalance_threshold = 101; },
       "the imbalance is below Numa.MigImbalanceThreshold"},
      {[](Case& it) { it.options.mig_threshold = 101; }, "less than Numa.MigThreshold"},
      {[](Case& it) { it.options.move_horizon = 0; }, "does not pay within the horizon"},
  };
  for (const auto& [how, text] : cases) {
    EXPECT_THAT(broken(load_move(), how), Contains(HasSubstr(text)));
  }
}

TEST(ValidatorTest, NamesMovesThatAreTooMany) {
  SnapshotBuilder builder;
  builder.nodes(8, {.cores = 4});
  for (int i = 0; i < 7; ++i) {
    builder.vm({.name = "vm" + std::to_string(i), .vcpus = 4});
  }
  Options options;
  options.spill_enable = 0;
  Case made(builder.build(), options);
  ASSERT_THAT(made.plan.actions, SizeIs(6));
  EXPECT_THAT(
      broken(made, [](Case& it) { it.options.migrations_per_epoch = 5; }),
      Contains(HasSubstr("action 6 (load-move): it is one more than Numa.MigrationsPerEpoch")));
}

TEST(ValidatorTest, NamesSwapsThatAreNotLetIn) {
  ASSERT_EQ(load_swap().action().relocations.size(), 2U);
  EXPECT_THAT(broken(load_swap(), [](Case& it) { it.options.swap_interval = 7; }),
              Contains(HasSubstr("Numa.SwapInterval")));
  EXPECT_THAT(broken(load_swap(), [](Case& it) { it.options.swap_load_enable = 0; }),
              Contains(HasSubstr("Numa.SwapLoadEnable is 0")));
  EXPECT_THAT(broken(load_swap(),
                     [](Case& it) {
                       for (ClientState& client : it.snapshot.clients) {
                         client.epochs_since_swap = 3;
                       }
                     }),
              Contains(HasSubstr("was swapped 3 epochs ago, less than Numa.SwapConsiderPeriod")));
}

TEST(ValidatorTest, NamesWhatLocalityDoesNotJustify) {
  const std::vector<std::pair<Break, std::string>> cases{
      {[](Case& it) { it.options.locality_weight_mem = 0; }, "Numa.LocalityWeightMem is 0"},
      {[](Case& it) { it.options.core_cap_ratio_pct = 20; }, "Numa.CoreCapRatioPct"},
      {[](Case& it) { it.options.locality_mig_threshold = 101; }, "Numa.LocalityMigThreshold"},
  };
  for (const auto& [how, text] : cases) {
    EXPECT_THAT(broken(locality_move(), how), Contains(HasSubstr(text)));
  }
  EXPECT_THAT(broken(load_swap(),
                     [](Case& it) {
                       it.action().reason = Reason::kLocalitySwap;
                       it.options.swap_locality_enable = 0;
                     }),
              Contains(HasSubstr("Numa.SwapLocalityEnable is 0")));
}

TEST(ValidatorTest, NamesTurnsOutOfTurn) {
  EXPECT_THAT(broken(load_move(),
                     [](Case& it) {
                       it.action().reason = Reason::kLongTermMove;
                       it.options.lterm_fairness_interval = 7;
                     }),
              ElementsAre(HasSubstr("Numa.LTermFairnessInterval")));
}

TEST(ValidatorTest, NamesATurnTakenTooEarly) {
  EXPECT_THAT(broken(load_move(),
                     [](Case& it) {
                       it.action().reason = Reason::kLongTermMove;
                       it.options.lterm_rest_times = 2;
                       it.vm("a").epochs_rested = 9;
                       it.vm("a").epochs_travelled = 5;
                     }),
              Contains(HasSubstr(
                  "takes a turn after 9 epochs of rest, although its memory travelled for 5")));
}

TEST(ValidatorTest, NamesATurnTakenTooEarlyAfterANeighboursTurn) {
  // 'b' is half of what the two nodes' clients want, so half of its rest is to pass.
  const auto after = [](std::int64_t epochs) {
    return broken(load_move(), [epochs](Case& it) {
      it.action().reason = Reason::kLongTermMove;
      it.options.lterm_rest_times = 2;
      it.vm("b").epochs_rested = epochs;
      it.vm("b").epochs_travelled = 10;
    });
  };
  const auto too_early = HasSubstr("it comes too early after the turn of 'b'/0");
  EXPECT_THAT(after(9), Contains(too_early));
  EXPECT_THAT(after(10), testing::Not(Contains(too_early)));
  EXPECT_THAT(broken(load_move(),
                     [](Case& it) {
                       it.action().reason = Reason::kLongTermMove;
                       it.vm("b").transferring = true;
                     }),
              Contains(too_early));
}

TEST(ValidatorTest, NamesAHardGroupThatIsBroken) {
  EXPECT_THAT(broken(load_swap(),
                     [](Case& it) {
                       it.vm("d").policy.anti_affinity_hard = true;
                       for (const char* name : {"a", "b", "c", "d"}) {
                         it.vm(name).policy.anti_affinity_group = "g";
                       }
                     }),
              Contains(HasSubstr("which a hard group forbids")));
}

/// Two VMs of 4 CPUs of which half is wanted come together for the sake of talk alone.
Case talk_move() {
  Options options = tests::walls();
  options.locality_weight_action_affinity = 100;
  return Case(SnapshotBuilder()
                  .nodes(2, {.cores = 8})
                  .vm({.name = "a", .homes = {0}, .vcpus = 4, .busy_pct = 50})
                  .vm({.name = "b", .homes = {1}, .vcpus = 4, .busy_pct = 50})
                  .chat("a", "b", 1'000'000)
                  .build(),
              options);
}

TEST(ValidatorTest, NamesTalkThatIsNotWorthIt) {
  // The plan of the case is: a to b, which gains 5 % of 4 vCPUs.
  EXPECT_THAT(broken(talk_move(), [](Case& it) { it.options.mig_threshold = 6; }),
              Contains(HasSubstr("the talk that it brings together is less than")));
  EXPECT_THAT(broken(talk_move(), [](Case& it) { it.options.core_cap_ratio_pct = 40; }),
              Contains(HasSubstr("beyond Numa.CoreCapRatioPct")));
  EXPECT_THAT(broken(talk_move(), [](Case& it) { it.client("b").demand += kCpu; }),
              Contains(HasSubstr("on a busier node")));
  EXPECT_THAT(broken(talk_move(),
                     [](Case& it) {
                       it.client("b").demand += kCpu * 5;
                       it.client("b").entitled += kCpu * 5;
                     }),
              Contains(HasSubstr("at the price of owed time")));
}

TEST(ValidatorTest, NamesAGroupThatCrowdsANode) {
  const VmPolicy policy{.affinity_group = "g"};
  const auto idle = [&](const char* name, NodeIndex home) {
    return tests::VmSpec{
        .name = name, .homes = {home}, .vcpus = 2, .busy_pct = 0, .policy = policy};
  };
  // The plan of the case is: c to a and b, which then have as many vCPUs as their node has CPUs.
  const Case together(SnapshotBuilder()
                          .nodes(4, {.cores = 6})
                          .vm(idle("a", 0))
                          .vm(idle("b", 0))
                          .vm(idle("c", 1))
                          .build(),
                      tests::walls());
  EXPECT_THAT(broken(together,
                     [](Case& it) {
                       for (const std::int32_t more : {2, 3}) {
                         it.client("a").vcpus.push_back(more);
                       }
                     }),
              Contains(HasSubstr("it crowds a node for the sake of a group")));
}

TEST(ValidatorTest, NamesCoresOfItsOwnThatAreNotThere) {
  const auto exclusive = [](std::int32_t cores) {
    return [cores](Case& it) {
      it.vm("a").policy.cpu_binding = CpuBinding::kExclusive;
      it.client("a").exclusive_cores = cores;
    };
  };
  // One of the four cores is left to others.
  EXPECT_THAT(broken(load_move(), exclusive(4)),
              ElementsAre(HasSubstr("'a'/0 does not find its cores there")));
  EXPECT_THAT(broken(load_move(), exclusive(0)), IsEmpty());
}

TEST(ValidatorTest, NamesMemoryThatIsCountedWrongOrHasNoRoom) {
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.action().relocations[0].memory = Bytes{1}; }),
              ElementsAre(HasSubstr("the memory of 'a'/0 is counted wrong")));
  EXPECT_THAT(broken(load_move(), [](Case& it) { it.snapshot.nodes[1].free = kGiB; }),
              Contains(HasSubstr("there is no room for the memory of 'a'/0")));
}

/// The move of load_move() as an administrator orders it, several of which may be of one VM.
std::vector<std::string> broken_orders(const Break& how) {
  Case made = load_move();
  made.plan.actions.front().reason = Reason::kAdministrator;
  made.plan.actions.front().predicted = {};
  made.options.mig_threshold = 100;  // what it brings does not count
  how(made);
  return violations_of_orders(made.plan, made.snapshot, made.options);
}

TEST(ValidatorTest, OrdersAreHeldOnlyToWhichClientMayMoveWhereAndToRoom) {
  EXPECT_THAT(broken_orders([](Case&) {}), IsEmpty());
  EXPECT_THAT(broken_orders([](Case& it) { it.circumstances.breaker_open = true; }), IsEmpty());
  const std::vector<std::pair<Break, std::string>> cases{
      {[](Case& it) { it.vm("a").fresh = false; }, "has no readings"},
      {[](Case& it) { it.vm("a").policy.do_not_move = true; }, "is not to be moved"},
      {[](Case& it) { it.client("a").moving = true; }, "is being moved already"},
      {[](Case& it) { it.client("a").epochs_here = 4; }, "less than Numa.Residency"},
      {[](Case& it) { it.client("a").allowed = {0}; }, "may not use"},
      {[](Case& it) { it.action().relocations[0].memory = Bytes{1}; }, "is counted wrong"},
      {[](Case& it) { it.snapshot.nodes[1].free = kGiB; }, "there is no room"},
      {[](Case& it) { it.action().relocations[0].to = 0; }, "does not go anywhere"},
      {[](Case& it) { it.plan.actions.push_back(it.action()); }, "is in the plan twice"}};
  for (const auto& [how, text] : cases) {
    EXPECT_THAT(broken_orders(how), Contains(HasSubstr(text)));
  }
}

TEST(ValidatorTest, NamesPullsOfWhatIsNotThereOrMayNotCome) {
  const std::vector<std::pair<Break, std::string>> cases{
      {[](Case& it) { it.action().relocations[0].memory = kGiB * 3; }, "not that much"},
      {[](Case& it) { it.action().relocations[0].memory = Bytes{}; }, "not that much"},
      {[](Case& it) { it.vm("a").memory_stays_because = "it is locked"; }, "not that much"},
      {[](Case& it) { it.vm("a").transferring = true; }, "has pages under way"},
      {[](Case& it) { it.vm("a").epochs_since_transfer = 2; }, "has pages under way"},
      {[](Case& it) { it.client("a").moving = true; }, "is being moved already"},
      {[](Case& it) { it.vm("a").fresh = false; }, "has no readings"},
      {[](Case& it) { it.snapshot.nodes[0].free = kGiB; }, "no room for all that is pulled"},
      {[](Case& it) { it.action().predicted.lost_after = CpuTime{1}; }, "not counted as gain"},
  };
  for (const auto& [how, text] : cases) {
    EXPECT_THAT(broken(pull(), how), Contains(HasSubstr(text)));
  }
}

TEST(ValidatorTest, NamesPlacementsOutsideTheMask) {
  EXPECT_THAT(broken(first_home(),
                     [](Case& it) {
                       it.client("a").allowed = {it.action().relocations[0].to == 0 ? 1U : 0U};
                     }),
              ElementsAre(HasSubstr("goes to a node that it may not use")));
}

TEST(ValidatorTest, NamesFiguresThatAreNotWhatTheModelSays) {
  const std::vector<std::pair<Break, std::string>> cases{
      {[](Case& it) { it.plan.lost += CpuTime{1000}; }, "the lost time is 8000000 us, not 8001000"},
      {[](Case& it) { it.plan.imbalance = Permille{400}; }, "the imbalance is 1000 per mille"},
      {[](Case& it) { it.action().predicted.lost_before = kCpu * 9; }, "the lost time is wrong"},
      {[](Case& it) { it.action().predicted.lost_after = kCpu; }, "the lost time is wrong"},
      {[](Case& it) { it.action().predicted.gain_at_home = kCpu; },
       "the gain at home is 8000000 us"},
      {[](Case& it) { it.action().predicted.imbalance_after = Permille{90}; },
       "the imbalance is 0 per mille, not 90"},
  };
  for (const auto& [how, text] : cases) {
    EXPECT_THAT(broken(load_move(), how), Contains(HasSubstr(text)));
  }
}

/// 7 CPUs wanted on a node of 4 and 2 on the other; one of 3 goes over, where 5 are then too many
/// and the other, of half the weight, gets less than before.
Case move_that_leaves_some() {
  Case made(SnapshotBuilder()
                .nodes(2, {.cores = 4})
                .vm({.name = "a", .vcpus = 4})
                .vm({.name = "b", .vcpus = 3})
                .vm({.name = "c", .homes = {1}, .vcpus = 2, .weight = 50})
                .build(),
            tests::walls());
  EXPECT_THAT(actions_of(made.snapshot, made.plan), ElementsAre("load-move b:0->1"));
  return made;
}

TEST(ValidatorTest, NamesShortagesThatOnlyChangeSides) {
  EXPECT_THAT(
      broken(move_that_leaves_some(), [](Case& it) { it.options.mig_thrash_threshold = 0; }),
      ElementsAre(HasSubstr("Numa.MigThrashThreshold")));
}

TEST(ValidatorTest, NamesShortagesForClientsThatWaitedAlready) {
  EXPECT_THAT(broken(move_that_leaves_some(),
                     [](Case& it) {
                       it.options.mig_prevent_lterm_thresh = 1;
                       it.client("c").owed_on_average = it.client("c").entitled;
                     }),
              ElementsAre(HasSubstr("Numa.MigPreventLTermThresh")));
}

}  // namespace
}  // namespace vmnuma::balancer
