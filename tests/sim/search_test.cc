// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/search.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/comparison.h"
#include "tools/sim/scenario/scenario_file.h"
#include "tools/sim/search/drawn.h"
#include "tools/sim/search/features.h"
#include "tools/sim/search/generator.h"
#include "tools/sim/search/shrink.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SearchTest, WhatIsGeneratedOrMutatedCanBeWrittenAndReadBack) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Scenario scenario = random_scenario(random);
    for (int step = 0; step < 6; ++step) {
      const auto read = parse_scenario(to_toml(scenario), "found.toml");
      ASSERT_TRUE(read) << seed << ": " << read.error().message << "\n" << to_toml(scenario);
      ASSERT_EQ(*read, scenario) << seed << "\n" << to_toml(scenario);
      scenario = step == 2 ? with_rules(std::move(scenario), random)
                           : mutated(std::move(scenario), random);
    }
  }
}

TEST(SearchTest, WhateverAFileCanSayIsDrawnAtSomeTime) {
  // Not the texts, nor options, nor what is only another way to write the same. By table.
  std::map<std::string, std::set<std::string>> never{
      {"", {"seed", "epochs", "strategy", "known_minutes"}},
      {"[host]",
       {"nodes", "cores_per_node", "threads_per_core", "caches_per_node", "memory_per_node",
        "huge_pages_per_node", "distances", "firmware_distances", "decisions_use", "counts_reads"}},
      {"[[host.node]]", {"id", "cores", "threads_per_core", "memory", "huge_pages"}},
      {"[[host.other]]", {"node", "from", "until", "pct"}},
      {"[[vm]]", {"name",        "vcpus",       "memory",      "start",           "stop",
                  "shares",      "limit",       "load",        "load_repeats",    "noise",
                  "stall",       "qemu",        "cells",       "pinned_on",       "placed_on",
                  "memory_on",   "numatune",    "group",       "anti_affinity",   "nodes",
                  "memory_mode", "consolidate", "do_not_move", "strategy",        "cpu_binding",
                  "cpu_policy",  "class",       "reservation", "locality_weight", "huge_pages"}},
      {"[[talk]]", {"between", "wakeups_per_second"}},
      {"[[fault]]", {"epoch", "epochs", "kind", "vm", "node", "cores"}}};
  std::set<std::string_view> features_never_had;
  for (const Feature& feature : features()) {
    features_never_had.insert(feature.name);
  }
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Scenario drawn = random_scenario(random);
    for (const Scenario& scenario : {drawn, with_rules(drawn, random)}) {
      std::string table;
      std::istringstream lines(to_toml(scenario));
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('[')) {
          table = line;
        }
        never[table].erase(line.substr(0, line.find(' ')));
      }
      for (const std::string_view feature : features_in(scenario)) {
        features_never_had.erase(feature);
      }
    }
  }
  for (const auto& [table, keys] : never) {
    EXPECT_THAT(keys, IsEmpty()) << table;
  }
  EXPECT_THAT(features_never_had, IsEmpty());
}

TEST(SearchTest, NoNodeHasMoreMemoryBoundToItThanItHas) {
  std::int64_t bound = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Scenario scenario = mutated(random_scenario(random), random);
    for (const ScenarioNode& node : scenario.host.nodes) {
      Bytes all;
      for (const ScenarioVm& vm : scenario.vms) {
        if (vm.numatune != NumatuneMode::kNone && vm.memory_on.front().node == node.id) {
          all += vm.memory_on.front().bytes;
          ++bound;
        }
      }
      EXPECT_LE(all, node.memory) << seed;
    }
  }
  EXPECT_GT(bound, 20);
}

TEST(SearchTest, NothingIsPromisedThatCannotBeKeptOrIsNotTrue) {
  std::int64_t reserved_within_quota = 0;
  std::int64_t priced = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Scenario scenario = mutated(with_rules(random_scenario(random), random), random);
    std::int64_t cores = 0;
    for (const ScenarioNode& node : scenario.host.nodes) {
      cores += node.cores;
    }
    std::int64_t reserved_permille = 0;
    for (const ScenarioVm& vm : scenario.vms) {
      const std::int64_t its = std::int64_t{vm.policy.reservation_permille} * vm.vcpus;
      reserved_permille += its;
      if (vm.limit_pct) {
        EXPECT_LE(its, *vm.limit_pct * 10) << seed;
        reserved_within_quota += its > 0 ? 1 : 0;
      }
      if (vm.policy.locality_weight_pct != 100) {
        // A stall of 0.3 is what remote memory is estimated to cost.
        EXPECT_EQ(vm.policy.locality_weight_pct, vm.stall.value / 3) << seed;
        ++priced;
      }
      if (scenario.known_minutes > 0 && vm.load_repeats == 0 && !vm.load.empty()) {
        EXPECT_EQ(vm.load.front().from, -known_epochs(scenario)) << seed;
      }
    }
    EXPECT_LE(reserved_permille, cores * 750) << seed;
  }
  EXPECT_GT(reserved_within_quota, 0);
  EXPECT_GT(priced, 0);
}

TEST(SearchTest, WhateverRulesTheAdministratorMakesNothingIsViolated) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Scenario scenario = with_rules(random_scenario(random), random);
    scenario.epochs = std::min<std::int64_t>(scenario.epochs, 30);
    Simulation simulation(scenario);
    while (!simulation.finished()) {
      simulation.run_epoch();
    }
    EXPECT_THAT(simulation.result().violations, IsEmpty()) << seed << "\n" << to_toml(scenario);
  }
}

TEST(SearchTest, NoVmWaitsNowForWhatIsOnlyExpected) {
  // It found a forecast move of one client of a VM that cost CPU time in that epoch.
  const auto scenario = parse_scenario(R"(
epochs = 40
known_minutes = 120
[host]
nodes = 2
cores_per_node = 1
memory_per_node = "2GiB"
[[host.other]]
node = 0
from = 13
pct = 100
[[vm]]
name = "vm0"
vcpus = 2
memory = "1GiB"
start = 13
load = [{ from = 0, pct = 100 }, { from = 8, pct = 0 }]
load_repeats = 16
[[vm]]
name = "vm1"
vcpus = 1
memory = "1GiB"
start = 13
load = [{ from = 0, pct = 100 }, { from = 8, pct = 0 }]
load_repeats = 16
)",
                                       "found.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  Simulation simulation(*scenario);
  while (!simulation.finished()) {
    simulation.run_epoch();
  }
  EXPECT_THAT(simulation.result().violations, IsEmpty());
}

TEST(SearchTest, TheSameNumbersGiveTheSameScenario) {
  Random one(7);
  Random other(7);
  EXPECT_EQ(mutated(random_scenario(one), one), mutated(random_scenario(other), other));
}

TEST(SearchTest, AFeatureThatIsTakenAwayIsNoLongerThere) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Scenario scenario = mutated(with_rules(random_scenario(random), random), random);
    for (const Feature& feature : features()) {
      Scenario without = scenario;
      if (has_feature(without, feature)) {
        feature.take_away(without);
        EXPECT_FALSE(has_feature(without, feature)) << feature.name << ", seed " << seed;
      }
    }
  }
}

/// Three VMs on four nodes, with a few things that do not matter.
Scenario crowded() {
  Scenario scenario;
  scenario.name = "found";
  scenario.epochs = 40;
  scenario.host = small_host(4);
  for (const char* name : {"vm0", "vm1", "vm2"}) {
    scenario.vms.push_back(busy_vm(name, 2, 100));
    scenario.vms.back().noise_pct = 10;
  }
  scenario.vms[1].shares = 512;
  scenario.faults = {{3, FaultKind::kSlowLibvirt, std::nullopt, std::nullopt, 5}};
  return scenario;
}

TEST(SearchTest, WhatIsShrunkStillShowsItAndHasNothingElse) {
  std::int64_t asked = 0;
  const Scenario smallest = shrunk(crowded(), 1000, [&](const Scenario& scenario) {
    ++asked;
    return scenario.vms.size() >= 2 && scenario.vms[1].shares == 512;
  });
  EXPECT_EQ(smallest.vms.size(), 2U);
  EXPECT_EQ(smallest.vms[1].shares, 512);
  EXPECT_EQ(smallest.host.nodes.size(), 1U);
  EXPECT_EQ(smallest.epochs, 30);
  EXPECT_THAT(features_in(smallest), ElementsAre("unequal shares"));
  EXPECT_LE(asked, 1000);
}

TEST(SearchTest, NoMoreIsTriedThanAllowed) {
  std::int64_t asked = 0;
  (void)shrunk(crowded(), 3, [&](const Scenario&) {
    ++asked;
    return false;
  });
  EXPECT_EQ(asked, 3);
}

TEST(SearchTest, EachClimbOfEachSeedIsAnother) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t number = 0; number < 10; ++number) {
      first.insert(random_of_climb(seed, number).next());
    }
  }
  EXPECT_EQ(first.size(), 100U);
}

TEST(DrawnTest, SeedAndNumberDecideTheScenarioAndItsNameIsEnough) {
  const Scenario drawn = drawn_scenario(7, 12);
  EXPECT_EQ(drawn.name, "drawn-7-12");
  EXPECT_EQ(drawn_scenario("drawn-7-12"), drawn);
  EXPECT_NE(drawn_scenario(7, 13), drawn);
  EXPECT_NE(drawn_scenario(8, 12), drawn);
}

TEST(DrawnTest, NoOtherNameIsTakenForOne) {
  for (const char* name : {"drawn", "drawn-", "drawn-7", "drawn-7-", "drawn-7-x", "drawn-x-7",
                           "drawn-7-1-1", "drawn--7-1", "pile-up",
                           "drawn-7-99999999999999999999999", "drawn-9223372036854775808-1"}) {
    EXPECT_EQ(drawn_scenario(name), std::nullopt) << name;
  }
}

TEST(DrawnTest, AnyOfThemCanBeWrittenAndReadBack) {
  for (std::uint64_t number = 0; number < 50; ++number) {
    const Scenario drawn = drawn_scenario(1, number);
    const auto read = parse_scenario(to_toml(drawn), drawn.name + ".toml");
    ASSERT_TRUE(read) << number << ": " << read.error().message;
    EXPECT_EQ(*read, drawn) << number;
  }
}

TEST(ComparisonTest, AHostThatDoesBetterLeftAloneIsCountedAndTheWorstNamed) {
  const auto comparison = [](std::string name, std::int64_t none, std::int64_t ours) {
    return ScenarioComparison{std::move(name),
                              {{"none", Percentage{none}, {}, 0, {}, {}},
                               {"kernel", Percentage{0}, {}, 0, {}, {}},
                               {std::string(kOurs), Percentage{ours}, {}, 0, {}, {}}},
                              {},
                              ""};
  };
  const std::vector<ScenarioComparison> all{comparison("equal", 5000, 6000),
                                            comparison("worse", 5000, 6001),
                                            comparison("worst", 1000, 9000)};
  EXPECT_THAT(to_text(all), HasSubstr("\n* lost the least of all policies; bound is not a policy"));
  const ComparisonSummary summary = summary_of(all);
  EXPECT_EQ(summary.harmed, 2);
  ASSERT_NE(summary.most_harmed, nullptr);
  EXPECT_EQ(summary.most_harmed->scenario, "worst");
  EXPECT_THAT(to_text(summary), HasSubstr("a host that is left alone loses less by more than 1 % "
                                          "of demand in 2, most in worst: 1.00 % instead of "
                                          "9.00 %\n"));
}

constexpr Effort kLittle{.starts = 1, .steps = 2, .shrinks = 4};

std::string found(std::int64_t rounds, std::int64_t threads) {
  const SearchPlan plan{.seed = 3, .against = "none", .effort = kLittle, .threads = threads};
  const SearchResult result = search(
      plan, [&](std::int64_t done) { return done < rounds; }, [](std::int64_t) {});
  EXPECT_EQ(result.rounds, rounds);
  std::string text = to_json(result.weaknesses);
  for (const Weakness& weakness : result.weaknesses) {
    text += to_toml(weakness.scenario);
  }
  return text;
}

TEST(SearchTest, SeedAndRoundsDecideTheResultWhateverTheThreads) {
  EXPECT_EQ(found(1, 1), found(1, 3));
}

TEST(SearchTest, AWorseMechanismComesFirstAndEachOnce) {
  const auto weakness = [](std::int64_t climb, std::int64_t behind, std::string cause) {
    Weakness made;
    made.climb = climb;
    made.behind = behind;
    made.cause = std::move(cause);
    return made;
  };
  Weakness wrong = weakness(4, 0, "");
  wrong.violation = "epoch 3: 'vm1' is lost";
  Weakness again = weakness(5, 0, "");
  again.violation = "epoch 13: 'vm2' is lost";
  const std::vector<Weakness> kept = by_mechanism(
      {weakness(0, 2000, "a"), weakness(1, 3000, "b"), weakness(2, 5000, "a"), wrong, again});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].climb, 4);
  EXPECT_EQ(kept[1].climb, 2);
  EXPECT_EQ(kept[2].climb, 1);
}

TEST(SearchTest, AWeaknessSaysWhatIsLostAndWhatItTakes) {
  // Both are found on one node, and no VM may move.
  Scenario scenario = crowded();
  scenario.faults.clear();
  for (ScenarioVm& vm : scenario.vms) {
    vm.noise_pct = 0;
    vm.qemu = ScenarioVm{}.qemu;
    vm.shares = 1024;
    vm.vcpus = 4;
    vm.pinned_on = {NodeId{0}};
    vm.policy.do_not_move = true;
  }
  const Weakness made = make_weakness(5, scenario, "kernel");
  EXPECT_EQ(made.opponent, "kernel");
  EXPECT_GT(made.behind, 10'000);
  EXPECT_EQ(made.cause, "VMs wait for CPUs and are not moved");
  EXPECT_THAT(made.takes, ElementsAre("VMs found pinned", "VMs that must not move"));
  EXPECT_THAT(made.scenario.not_first_because, HasSubstr("takes VMs found pinned"));
  EXPECT_LE(made.scenario.description.size(), 90U);
  EXPECT_THAT(to_text({made}, 1), HasSubstr("behind kernel"));
}

}  // namespace
}  // namespace vmnuma::tools
