// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/sim/scenario/toml_reader.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHost = R"(
[host]
nodes = 2
cores_per_node = 4
memory_per_node = "8GiB"
)";

Result<Scenario> parse(const std::string& rest) {
  return parse_scenario(std::string(kHost) + rest, "dir/some.toml");
}

std::string problem(const std::string& rest) {
  const auto scenario = parse(rest);
  return scenario ? "" : scenario.error().message;
}

TEST(ScenarioFileTest, ReadsEverythingThatAScenarioMayHave) {
  const auto scenario = parse_scenario(R"(
description = "all of it"
seed = 7
epochs = 300
[host]
nodes = 2
cores_per_node = 10
threads_per_core = 2
memory_per_node = "128GiB"
distances = [[10, 21], [21, 10]]
[[host.other]]
node = 1
from = 5
until = 9
pct = 250
[options]
"Numa.MigImbalanceThreshold" = 20
Numa.MigThreshold = 3
[[vm]]
name = "SQL00"
vcpus = 4
memory = "32GiB"
start = 1
stop = 200
shares = 2048
load = [{ from = 0, pct = 75 }, { from = 100, pct = 20 }]
noise = 5
stall = 0.3
cells = 2
pinned_on = [0]
memory_on = { "0" = "16GiB", "1" = "2GiB" }
group = "db"
anti_affinity = "soft"
nodes = [0, 1]
numatune = "restrictive"
limit = 350
qemu = 0.02
reservation = 25
locality_weight = 200
memory_mode = "mask"
consolidate = false
do_not_move = true
strategy = "DistributeEvenly"
[[fault]]
epoch = 40
epochs = 3
kind = "pin-refused"
vm = "SQL00"
[[fault]]
epoch = 50
kind = "node-offline"
node = 1
cores = 2
)",
                                       "dir/some.toml");

  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_EQ(scenario->name, "some");
  EXPECT_EQ(scenario->description, "all of it");
  EXPECT_EQ(scenario->seed, 7U);
  EXPECT_EQ(scenario->epochs, 300);
  ASSERT_EQ(scenario->host.nodes.size(), 2U);
  EXPECT_EQ(scenario->host.nodes[1], (ScenarioNode{NodeId{1}, 10, 2, kGiB * 128}));
  EXPECT_THAT(scenario->host.distances, ElementsAre(10, 21, 21, 10));
  EXPECT_THAT(scenario->host.others, ElementsAre(OtherLoad{NodeId{1}, 5, 9, 250}));
  EXPECT_EQ(scenario->options.mig_imbalance_threshold, 20);
  EXPECT_EQ(scenario->options.mig_threshold, 3);
  ASSERT_EQ(scenario->vms.size(), 1U);
  const ScenarioVm& vm = scenario->vms[0];
  EXPECT_EQ(vm.name, "SQL00");
  EXPECT_EQ(vm.vcpus, 4);
  EXPECT_EQ(vm.memory, kGiB * 32);
  EXPECT_EQ(vm.start, 1);
  EXPECT_EQ(vm.stop, 200);
  EXPECT_EQ(vm.shares, 2048);
  EXPECT_THAT(vm.load, ElementsAre(LoadStep{0, 75}, LoadStep{100, 20}));
  EXPECT_EQ(vm.noise_pct, 5);
  EXPECT_EQ(vm.stall.value, 300);
  EXPECT_EQ(vm.cells, 2);
  EXPECT_THAT(vm.pinned_on, ElementsAre(NodeId{0}));
  EXPECT_THAT(vm.memory_on,
              ElementsAre(NodeBytes{NodeId{0}, kGiB * 16}, NodeBytes{NodeId{1}, kGiB * 2}));
  EXPECT_EQ(vm.policy.anti_affinity_group, "db");
  EXPECT_FALSE(vm.policy.anti_affinity_hard);
  EXPECT_THAT(vm.policy.nodes, ElementsAre(NodeId{0}, NodeId{1}));
  EXPECT_EQ(vm.numatune, NumatuneMode::kRestrictive);
  EXPECT_EQ(vm.limit_pct, 350);
  EXPECT_EQ(vm.qemu.value, 20);
  EXPECT_EQ(vm.policy.reservation_permille, 250);
  EXPECT_EQ(vm.policy.locality_weight_pct, 200);
  EXPECT_EQ(vm.policy.memory_mode, MemoryMode::kMask);
  EXPECT_FALSE(vm.policy.consolidate);
  EXPECT_TRUE(vm.policy.do_not_move);
  EXPECT_EQ(vm.policy.strategy, PlacementStrategy::kDistributeEvenly);
  EXPECT_THAT(scenario->faults,
              ElementsAre(Fault{40, FaultKind::kPinRefused, 0U, std::nullopt, 3},
                          Fault{50, FaultKind::kNodeOffline, std::nullopt, NodeId{1}, 10, 2}));
}

TEST(ScenarioFileTest, ManyEqualVmsAreOneTable) {
  const auto scenario = parse(
      "[[vm]]\nname = 'web'\nvcpus = 2\nmemory = '1GiB'\ncount = 3\n"
      "[[vm]]\nname = 'db'\nvcpus = 1\nmemory = '1GiB'\n");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  std::vector<std::string> names;
  for (const ScenarioVm& vm : scenario->vms) {
    names.push_back(vm.name);
  }
  EXPECT_THAT(names, ElementsAre("web1", "web2", "web3", "db"));
  EXPECT_EQ(scenario->vms[2].vcpus, 2);
}

TEST(ScenarioFileTest, RefusesAVmThatCannotFitItsHost) {
  // Two nodes of 4 CPUs and 8 GiB.
  EXPECT_EQ(problem("[[vm]]\nname = 'a'\nvcpus = 9\nmemory = '17GiB'\n"),
            "dir/some.toml:9: 'a' has 17408 MiB of memory, but all nodes together have 16384");
}

TEST(ScenarioFileTest, HugePagesArePartOfANodesMemory) {
  const std::string vm = "[[vm]]\nname = 'a'\nvcpus = 1\nhuge_pages = true\nmemory = ";
  const auto scenario = parse_scenario(
      "epochs = 1\n[host]\nmemory_per_node = '8GiB'\nhuge_pages_per_node = '2GiB'\n"
      "[[host.node]]\ncores = 4\n[[host.node]]\ncores = 4\nhuge_pages = '4GiB'\n" +
          vm + "'6GiB'\n",
      "f.toml");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_EQ(scenario->host.nodes[0].huge_pages, kGiB * 2);
  EXPECT_EQ(scenario->host.nodes[1].huge_pages, kGiB * 4);
  EXPECT_TRUE(scenario->vms[0].huge_pages);

  EXPECT_THAT(problem(vm + "'1GiB'\n"), HasSubstr("all nodes together have 0 of huge pages"));
  const auto too_many = parse_scenario(
      "epochs = 1\n[host]\nnodes = 2\ncores_per_node = 1\nmemory_per_node = '8GiB'\n"
      "huge_pages_per_node = '9GiB'\n",
      "f.toml");
  ASSERT_FALSE(too_many.has_value());
  EXPECT_THAT(too_many.error().message, HasSubstr("there are more huge pages than memory"));
}

std::string talk(const std::string& between) {
  std::string text;
  for (const char* name : {"a", "b", "c"}) {
    text += "[[vm]]\nname = '" + std::string(name) + "'\nvcpus = 2\nmemory = '1GiB'\n";
  }
  return text + "[[talk]]\nwakeups_per_second = 5000\nbetween = " + between + "\n";
}

TEST(ScenarioFileTest, VmsMayTalk) {
  const auto scenario = parse(talk("['a', 'c']"));
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_THAT(scenario->talks, ElementsAre(ScenarioTalk{{0, 2}, 5000}));
  EXPECT_THAT(problem(talk("['a', 'd']")), HasSubstr("there is no VM 'd'"));
  EXPECT_THAT(problem(talk("['a', 1]")), HasSubstr("must be an array of names of VMs"));
  EXPECT_THAT(problem(talk("['a', 'a']")), HasSubstr("'a' cannot talk to itself"));
  EXPECT_THAT(problem(talk("['a']")), HasSubstr("it takes two VMs to talk"));
  EXPECT_THAT(problem(talk("'a'")), HasSubstr("'between'"));
  EXPECT_THAT(problem("[[talk]]\n"), HasSubstr("wakeups_per_second"));
}

/// Of one VM that has these keys and a load of which an hour is known.
Result<Scenario> with_vm(const std::string& keys) {
  return parse_scenario("epochs = 100\nknown_minutes = 60\n" + std::string(kHost) +
                            "[[vm]]\nname = 'a'\nvcpus = 1\nmemory = '1GiB'\n" + keys,
                        "dir/some.toml");
}

TEST(ScenarioFileTest, LoadsMayRepeatAlsoBeforeTheStart) {
  const auto scenario =
      with_vm("load = [{ from = 0, pct = 10 }, { from = 40, pct = 90 }]\nload_repeats = 50\n");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_EQ(known_epochs(*scenario), 1800);
  const ScenarioVm& vm = scenario->vms.at(0);
  EXPECT_EQ(load_at(vm, 39), 10);
  EXPECT_EQ(load_at(vm, 40), 90);
  EXPECT_EQ(load_at(vm, 50), 10);
  EXPECT_EQ(load_at(vm, -1), 90);
  EXPECT_EQ(load_at(vm, -50), 10);
  EXPECT_THAT(with_vm("load = [{ from = 40, pct = 9 }]\nload_repeats = 40\n").error().message,
              HasSubstr("'load_repeats'"));
}

TEST(ScenarioFileTest, VmsMayWorkInSpellsAtRandomAndOnlyInSomeHours) {
  const auto scenario = with_vm(
      "on_off = { pct = 90, idle_pct = 5, shortest = 2, longest = 6, every = 50, "
      "from = 20, until = 40 }\n");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  const ScenarioVm& vm = scenario->vms.at(0);
  std::int64_t busy = 0;
  for (std::int64_t epoch = -1800; epoch < 100; ++epoch) {
    const std::int64_t of_day = (epoch + 1800) % 50;
    EXPECT_TRUE(load_at(vm, epoch) == 5 || (of_day >= 20 && of_day < 46)) << epoch;
    busy += load_at(vm, epoch) == 90 ? 1 : 0;
  }
  EXPECT_GT(busy, 200);
  EXPECT_LT(busy, 700);
  EXPECT_THAT(with_vm("load = [{ pct = 9 }]\non_off = { pct = 9 }\n").error().message,
              HasSubstr("either 'load' or 'on_off'"));
}

TEST(ScenarioFileTest, HasDefaultsForTheRest) {
  const auto scenario = parse("[[vm]]\nname = 'a'\nvcpus = 2\nmemory = '1GiB'\n");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_EQ(scenario->seed, 1U);
  EXPECT_EQ(scenario->epochs, 300);
  EXPECT_THAT(scenario->host.distances, ElementsAre(10, 21, 21, 10));
  EXPECT_EQ(scenario->vms[0].shares, 1024);
  EXPECT_EQ(load_at(scenario->vms[0], 100), 0);
}

TEST(ScenarioFileTest, NodesMayDifferAndHaveGapsInTheirNumbers) {
  const auto scenario = parse_scenario(R"(
[host]
threads_per_core = 2
[[host.node]]
cores = 8
memory = "32GiB"
[[host.node]]
id = 4
cores = 0
memory = "64GiB"
)",
                                       "f.toml");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_THAT(scenario->host.nodes, ElementsAre(ScenarioNode{NodeId{0}, 8, 2, kGiB * 32},
                                                ScenarioNode{NodeId{4}, 0, 2, kGiB * 64}));
}

TEST(ScenarioFileTest, AnUnknownKeyIsNamedWithItsLineAndTheNearestThatExists) {
  EXPECT_EQ(problem("[[vm]]\nname = 'a'\nvcpu = 2\nvcpus = 2\nmemory = '1GiB'\n"),
            "dir/some.toml:8: there is no key 'vcpu' in [[vm]]; did you mean 'vcpus'?");
}

TEST(ScenarioFileTest, APolicyIsReadAsInTheConfigurationFile) {
  const std::string vm = "[[vm]]\nname = 'a'\nvcpus = 2\nmemory = '1GiB'\n";
  EXPECT_THAT(problem(vm + "memory_mode = 'harsh'\n"),
              HasSubstr("some.toml:10: 'memory_mode' is 'harsh', but must be "));
  EXPECT_THAT(problem(vm + "do_not_move = 1\n"),
              HasSubstr("'do_not_move' is an integer, but must be true or false"));
  EXPECT_THAT(problem(vm + "reservation = 101\n"), HasSubstr("some.toml:10: 'reservation' is "));
}

TEST(ScenarioFileTest, AFaultOfAnUnknownKindDoesNotHideOtherProblems) {
  const std::string problems = problem("[[fault]]\nepoch = 1\nkind = 'x'\nnode = 7\ncore = 1\n");
  EXPECT_THAT(problems, HasSubstr("'kind' = 'x' must be one of"));
  EXPECT_THAT(problems, HasSubstr("there is no node 7"));
  EXPECT_THAT(problems, HasSubstr("there is no key 'core' in [[fault]]; did you mean 'cores'?"));
}

TEST(ScenarioFileTest, AllProblemsAreToldAtOnceByLine) {
  const std::string problems =
      problem("[[vm]]\nname = 'a'\nvcpus = 0\nmemory = '1GB'\nload = [{ from = 0, pct = 101 }]\n");
  EXPECT_THAT(problems, HasSubstr("some.toml:8: 'vcpus' = 0 is out of range, it goes from 1"));
  EXPECT_THAT(problems, HasSubstr("some.toml:9: 'memory': '1GB' is not a size"));
  EXPECT_THAT(problems, HasSubstr("some.toml:10: 'pct' = 101 is out of range"));
}

TEST(ScenarioFileTest, RefusesWhatIsNotThere) {
  const std::string vm = "[[vm]]\nname = 'web1'\nvcpus = 2\nmemory = '1GiB'\n";
  EXPECT_THAT(problem(vm + "placed_on = [2]\n"), HasSubstr("there is no node 2"));
  EXPECT_THAT(problem(vm + "pinned_on = [2]\n"), HasSubstr("there is no node 2"));
  EXPECT_THAT(problem(vm + "memory_on = { \"7\" = '1GiB' }\n"), HasSubstr("there is no node '7'"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'vm-vanishes'\nvm = 'web2'\n"),
              HasSubstr("there is no VM named 'web2'; did you mean 'web1'?"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'vm-vanish'\nvm = 'web1'\n"),
              HasSubstr("did you mean 'vm-vanishes'?"));
  EXPECT_THAT(problem("[options]\n'Numa.MigTreshold' = 1\n"),
              HasSubstr("did you mean 'Numa.MigThreshold'?"));
}

TEST(ScenarioFileTest, RefusesWhatContradictsItself) {
  const std::string vm = "[[vm]]\nname = 'a'\nvcpus = 2\nmemory = '1GiB'\n";
  EXPECT_THAT(problem(vm + vm), HasSubstr("there are two VMs named 'a'"));
  EXPECT_THAT(problem(vm + "memory_on = { \"0\" = '2GiB' }\n"),
              HasSubstr("more memory on nodes than in all"));
  EXPECT_THAT(problem(vm + "start = 5\nstop = 5\n"), HasSubstr("'stop' = 5 is out of range"));
  EXPECT_THAT(problem(vm + "load = [{ from = 9, pct = 1 }, { from = 9, pct = 2 }]\n"),
              HasSubstr("'from' = 9 is out of range"));
  EXPECT_THAT(problem(vm + "anti_affinity = 'hard'\n"), HasSubstr("needs a 'group'"));
  EXPECT_THAT(problem("[options]\n'Numa.MigThreshold' = 1\nNuma.MigThreshold = 2\n"),
              HasSubstr("'Numa.MigThreshold' is given twice"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'no-memory'\n"),
              HasSubstr("a fault 'no-memory' needs a 'node'"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'pages-busy'\n"),
              HasSubstr("a fault 'pages-busy' needs a 'vm'"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'daemon-restart'\nvm = 'a'\n"),
              HasSubstr("a fault 'daemon-restart' has no 'vm'"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'no-memory'\nnode = 0\ncores = 1\n"),
              HasSubstr("a fault 'no-memory' has no 'cores'"));
  EXPECT_THAT(problem(vm + "[[fault]]\nepoch = 1\nkind = 'no-memory'\nvm = 'a'\nnode = 0\n"),
              HasSubstr("not both"));
}

TEST(ScenarioFileTest, RefusesAHostWithoutAHome) {
  const auto problem_of = [](const std::string& nodes) {
    const auto scenario = parse_scenario("[host]\n" + nodes, "f.toml");
    return scenario ? "" : scenario.error().message;
  };
  const std::string none =
      "f.toml:1: no node has both CPUs and memory, so that no VM can have a home";
  EXPECT_EQ(problem_of("nodes = 2\ncores_per_node = 0\nmemory_per_node = '8GiB'\n"), none);
  EXPECT_EQ(problem_of("nodes = 2\ncores_per_node = 4\nmemory_per_node = '0GiB'\n"), none);
  const std::string cpus = "[[host.node]]\ncores = 4\nmemory = '0GiB'\n";
  const std::string memory = "[[host.node]]\ncores = 0\nmemory = '8GiB'\n";
  EXPECT_EQ(problem_of(cpus + memory), none);
  EXPECT_EQ(problem_of(cpus + memory + "[[host.node]]\ncores = 1\nmemory = '8GiB'\n"), "");
}

TEST(ScenarioFileTest, RefusesFaultsThatTakeAllHomesAtOnce) {
  const auto fault = [](std::int32_t node, std::int64_t epoch, const std::string& more = "") {
    return "[[fault]]\nkind = 'node-offline'\nepochs = 10\nnode = " + std::to_string(node) +
           "\nepoch = " + std::to_string(epoch) + "\n" + more;
  };
  EXPECT_EQ(problem(fault(1, 20) + fault(0, 11)),
            "dir/some.toml:6: in epoch 20 all nodes with CPUs and memory are offline");
  EXPECT_THAT(problem(fault(1, 20, "cores = 4\n") + fault(0, 20)), HasSubstr("in epoch 20"));
  EXPECT_EQ(problem(fault(1, 20, "cores = 3\n") + fault(0, 11)), "");
  EXPECT_EQ(problem(fault(1, 20) + fault(0, 10)), "");  // one ends as the other begins
}

TEST(ScenarioFileTest, RefusesDistancesThatAreNoMatrix) {
  const auto with = [](const std::string& distances) {
    const auto scenario = parse_scenario(std::string(kHost) + "distances = " + distances, "f.toml");
    return scenario ? "" : scenario.error().message;
  };
  EXPECT_EQ(with("[[10, 20], [20, 10]]"), "");
  EXPECT_THAT(with("[[10, 20]]"), HasSubstr("must be 2 arrays of 2 integers"));
  EXPECT_THAT(with("[[10], [10]]"), HasSubstr("must be 2 arrays of 2 integers"));
  EXPECT_THAT(with("[[11, 20], [20, 10]]"), HasSubstr("must have 10 on the diagonal"));
  EXPECT_THAT(with("[[10, 9], [20, 10]]"), HasSubstr("10 to 254 elsewhere"));
  EXPECT_THAT(with("[[10, 'x'], [20, 10]]"), HasSubstr("10 to 254 elsewhere"));
}

TEST(ScenarioFileTest, NeedsAHost) {
  const auto scenario = parse_scenario("seed = 1\n", "f.toml");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(scenario.error().message, HasSubstr("'host' is missing"));
}

TEST(ScenarioFileTest, AHostHasNodesInOneOfTwoWays) {
  EXPECT_FALSE(parse_scenario("[host]\n", "f.toml").has_value());
  EXPECT_FALSE(parse("[[host.node]]\ncores = 1\nmemory = '1GiB'\n").has_value());
}

TEST(ScenarioFileTest, BrokenTomlIsToldWithItsLine) {
  const auto scenario = parse_scenario("seed = 1\nepochs = = 2\n", "f.toml");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(scenario.error().message, HasSubstr("f.toml:2:"));
}

TEST(ScenarioFileTest, AFileThatIsNotThereIsNotFound) {
  const auto scenario = read_scenario("/nowhere/at/all.toml");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_EQ(scenario.error().code, ErrorCode::kNotFound);
}

TEST(SizeTest, ReadsUnitsAndRefusesOthers) {
  EXPECT_EQ(parse_size("512MiB"), kGiB / 2);
  EXPECT_EQ(parse_size("1TiB"), kGiB * 1024);
  EXPECT_EQ(parse_size("64TiB"), kGiB * 1024 * 64);
  for (const char* text : {"", "GiB", "1", "1 GiB", "1GB", "-1GiB", "65TiB", "1.5GiB", "0x1GiB",
                           "99999999999999999999MiB"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace vmnuma::tools
