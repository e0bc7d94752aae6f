// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/sim/scenarios.h"
#include "tests/support/temp_directory.h"
#include "tools/sim/scenario/catalogue.h"
#include "tools/sim/scenario/scenario_file.h"
#include "tools/vmnuma/commands/search_command.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome run(const std::vector<std::string>& arguments, bool terminal = false,
            bool err_terminal = false) {
  std::ostringstream out;
  std::ostringstream err;
  const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
  if (!invocation) {
    return {invocation.error().code, "", invocation.error().text};
  }
  Surroundings surroundings{out, err, terminal, [](std::chrono::milliseconds) { return true; }};
  surroundings.err_is_terminal = err_terminal;
  surroundings.scenarios = kScenarioDirectory;
  const int code = tools::run(*invocation, surroundings);
  return {code, out.str(), err.str()};
}

std::vector<std::string> keys_of(const json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.push_back(key);
  }
  return keys;
}

TEST(SimCommandsTest, JsonIsOneObjectWithTheseKeys) {
  const Outcome outcome = run({"sim", "run", "pile-up", "--json", "--seed", "9"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
  const auto result = nlohmann::ordered_json::parse(outcome.out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : result.items()) {
    keys.push_back(key);
  }
  EXPECT_THAT(
      keys, ElementsAre("scenario", "policy", "seed", "epochs", "moves", "swaps", "locality_moves",
                        "long_term_moves", "pages_moved", "bytes_moved", "bytes_below_reserve",
                        "imbalance_pct", "locality_pct", "owed_pct_mean", "lost_pct_mean",
                        "last_move_epoch", "predictions", "vms", "violations"));
  EXPECT_EQ(result["scenario"], "pile-up");
  EXPECT_EQ(result["seed"], 9);
  EXPECT_EQ(result["epochs"], 300);
  EXPECT_EQ(result["moves"], 3);
  EXPECT_EQ(result["bytes_moved"].get<std::int64_t>(),
            result["pages_moved"].get<std::int64_t>() * 4096);
  EXPECT_THAT(keys_of(result["imbalance_pct"]), ElementsAre("end", "mean", "start"));
  EXPECT_THAT(keys_of(result["locality_pct"]), ElementsAre("end", "mean", "start"));
  ASSERT_EQ(result["vms"].size(), 4U);
  EXPECT_THAT(keys_of(json(result["vms"][0])),
              ElementsAre("entitled_pct", "homes", "locality_pct", "moves", "name", "used_pct",
                          "waited_pct", "worked_pct"));
  EXPECT_TRUE(result["violations"].empty());
}

TEST(SimCommandsTest, EpochsCanBeChosen) {
  const Outcome outcome = run({"sim", "run", "pile-up", "--json", "--epochs", "4"});
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["epochs"], 4);
  EXPECT_EQ(result["moves"], 3);
  EXPECT_EQ(result["last_move_epoch"], 1);
  EXPECT_EQ(result["imbalance_pct"]["start"], 100.0);
}

TEST(SimCommandsTest, AScenarioRunsUnderOtherPoliciesToo) {
  const json ours = json::parse(run({"sim", "run", "pile-up", "--json", "--epochs", "60"}).out);
  EXPECT_EQ(ours["policy"], "vmnuma");
  const Outcome outcome =
      run({"sim", "run", "pile-up", "--json", "--epochs", "60", "--policy", "none"});
  EXPECT_EQ(outcome.code, kExitOk);
  const json none = json::parse(outcome.out);
  EXPECT_EQ(none["policy"], "none");
  EXPECT_EQ(none["bytes_moved"], 0);
  EXPECT_GT(none["lost_pct_mean"], ours["lost_pct_mean"]);
  EXPECT_THAT(run({"sim", "run", "pile-up", "--epochs", "9", "--policy", "kernel"}).out,
              AllOf(HasSubstr("policy kernel"), Not(HasSubstr("--explain"))));
}

TEST(SimCommandsTest, OtherPoliciesExplainAndRecordNothing) {
  const Outcome unknown = run({"sim", "run", "pile-up", "--policy", "kernal"});
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'kernel'?"));
  for (const char* option : {"--explain=web1", "--record=file", "--watch"}) {
    const Outcome outcome = run({"sim", "run", "pile-up", "--policy", "none", option});
    EXPECT_EQ(outcome.code, kExitUsage);
    EXPECT_THAT(outcome.err, HasSubstr("are for vmnuma only"));
  }
}

TEST(SimCommandsTest, AFileIsRunByItsPath) {
  const Outcome outcome =
      run({"sim", "run", kScenarioDirectory + "/pile-up.toml", "--json", "--epochs", "2"});
  EXPECT_EQ(json::parse(outcome.out)["scenario"], "pile-up");
}

TEST(SimCommandsTest, TablesAndNewsAreShownAsItGoes) {
  const Outcome outcome = run({"sim", "run", "pile-up", "--epochs", "60"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, HasSubstr("nodeID"));
  EXPECT_THAT(outcome.out, HasSubstr("homeNode"));
  EXPECT_THAT(outcome.out, HasSubstr("load-move: web1 from node 0"));
  EXPECT_THAT(outcome.out, HasSubstr("ENTITLED%"));
  EXPECT_THAT(outcome.out, HasSubstr("violations  none"));
}

TEST(SimCommandsTest, NothingOfAScenarioIsShownThatATerminalOrAShellWouldObey) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/pile\xc2\x9b b.toml";
  std::ifstream pile_up(kScenarioDirectory + "/pile-up.toml");
  std::string scenario(std::istreambuf_iterator<char>(pile_up), {});
  for (std::size_t at = 0; (at = scenario.find("web1", at)) != std::string::npos;) {
    scenario.replace(at, 4, "w\xe2\x80\xae;1");
  }
  std::ofstream(path) << scenario;
  const Outcome ran = run({"sim", "run", path, "--epochs", "2"});
  EXPECT_THAT(ran.out, HasSubstr("'pile\\u009b b'"));
  EXPECT_THAT(ran.out, HasSubstr("w\\u202e;1"));
  EXPECT_THAT(ran.out,
              HasSubstr("/pile\\302\\233 b.toml' --epochs 2 --explain $'w\\342\\200\\256"));
  const Outcome compared = run({"sim", "compare", path, "--epochs", "2"});
  EXPECT_THAT(compared.out, HasSubstr("pile\\u009b"));
  for (const Outcome& outcome : {ran, compared}) {
    EXPECT_THAT(outcome.out, testing::Not(HasSubstr("\xc2\x9b")));
    EXPECT_THAT(outcome.out, testing::Not(HasSubstr("\xe2\x80\xae")));
  }
}

TEST(SimCommandsTest, ARunNamesTheCommandThatExplainsAMove) {
  const Outcome outcome = run({"sim", "run", "pile-up", "--epochs", "60", "--seed", "2"});
  const std::string begin = "\nNext, ask why: vmnuma ";
  const std::size_t at = outcome.out.find(begin);
  ASSERT_NE(at, std::string::npos) << outcome.out;
  std::istringstream words(outcome.out.substr(at + begin.size()));
  using Words = std::istream_iterator<std::string>;
  const Outcome explained = run(std::vector<std::string>(Words(words), Words()));
  EXPECT_EQ(explained.code, kExitOk) << explained.err;
  EXPECT_THAT(explained.out, testing::StartsWith("VM web1 ("));
  EXPECT_THAT(explained.out, HasSubstr("Moves to other nodes, each judged by itself"));
}

TEST(SimCommandsTest, TheExplanationIsThatOfTheDaemonInJson) {
  const Outcome outcome =
      run({"sim", "run", "pile-up", "--epochs", "9", "--explain", "web2", "--json"});
  const json view = json::parse(outcome.out);
  EXPECT_EQ(view["vm"], "web2");
  EXPECT_EQ(view["clients"].size(), 1U);
}

TEST(SimCommandsTest, AVmThatTheHostDoesNotHaveCannotBeExplained) {
  const Outcome outcome = run({"sim", "run", "pile-up", "--epochs", "9", "--explain", "web9"});
  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("'web9'"));
}

TEST(SimCommandsTest, WatchingShowsEveryEpoch) {
  const Outcome plain = run({"sim", "run", "pile-up", "--epochs", "9", "--watch"});
  EXPECT_THAT(plain.out, HasSubstr("after epoch 7:"));
  const Outcome screen = run({"sim", "run", "pile-up", "--epochs", "9", "--watch"}, true);
  EXPECT_THAT(screen.out, HasSubstr("epoch 7 of 9"));
  EXPECT_THAT(screen.out, HasSubstr("\x1b[H"));
}

TEST(SimCommandsTest, ATerminalShowsHowFarARunIsAndNothingElseChanges) {
  const std::vector<std::string> arguments{"sim", "run", "pile-up", "--epochs", "9"};
  const Outcome shown = run(arguments, /*terminal=*/false, /*err_terminal=*/true);
  EXPECT_THAT(shown.err, HasSubstr("pile-up  [####################]  100 %  epoch 9 of 9"));
  EXPECT_THAT(shown.err, testing::EndsWith("\r\x1b[K"));
  EXPECT_EQ(shown.out, run(arguments).out);
  EXPECT_EQ(run(arguments).err, "");
  EXPECT_EQ(run({"sim", "run", "pile-up", "--epochs", "9", "--json"}, false, true).err, "");
}

TEST(SimCommandsTest, ATerminalShowsHowFarAComparisonIs) {
  const Outcome shown = run({"sim", "compare", "pile-up", "swap-only", "--epochs", "3"},
                            /*terminal=*/false, /*err_terminal=*/true);
  // Six policies each, of which the first six are half of the work.
  EXPECT_THAT(shown.err, HasSubstr("sim compare  [##########..........]   50 %  pile-up"));
  EXPECT_THAT(shown.err, HasSubstr("sim compare  [####################]  100 %  swap-only"));
  EXPECT_THAT(shown.out, HasSubstr("swap-only"));
}

TEST(SimCommandsTest, ScenariosAreListed) {
  const Outcome outcome = run({"sim", "list"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, HasSubstr("three-on-two"));
  const json list = json::parse(run({"sim", "list", "--json"}).out);
  EXPECT_GE(list.size(), 20U);
  EXPECT_THAT(keys_of(list[0]), ElementsAre("description", "epochs", "name", "nodes", "vms"));
}

TEST(SimCommandsTest, ASearchWritesWhatItFindsAsScenariosThatCanBeRun) {
  const tests::TempDirectory directory;
  const std::string out = directory.path() + "/found";
  const std::vector<std::string> arguments{"sim", "search", "--rounds", "1", "--out", out};
  const Invocation invocation = parse_arguments(arguments, /*now_unix_s=*/0).value();
  std::ostringstream shown;
  std::ostringstream err;
  Surroundings surroundings{shown, err, false, [](std::chrono::milliseconds) { return true; }};
  const Effort little{.starts = 3, .steps = 0, .shrinks = 3};
  (void)search_scenarios(std::get<SimSearchRequest>(invocation.command), little,
                         {invocation, surroundings});  // there may be violations
  EXPECT_EQ(err.str(), "");
  EXPECT_THAT(shown.str(), HasSubstr("4 climbs of 1 rounds"));
  const auto found = list_scenarios(out);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_FALSE(found->empty());
  for (const Scenario& scenario : *found) {
    EXPECT_THAT(shown.str(), HasSubstr(scenario.name));
    EXPECT_THAT(scenario.description, testing::StartsWith("Found by search: "));
  }
}

TEST(SimCommandsTest, ASearchIsAgainstAPolicyThatThereIsAndHasOneEnd) {
  const Outcome unknown = run({"sim", "search", "--against", "kernal"});
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'kernel'?"));
  EXPECT_EQ(run({"sim", "search", "--rounds", "1", "--seconds", "1"}).code, kExitUsage);
}

TEST(SimCommandsTest, AScenarioIsCheckedAndItsErrorsAreToldOneALine) {
  EXPECT_EQ(run({"sim", "check", "pile-up"}).out, "pile-up: 4 nodes, 4 VMs, 300 epochs\n");
  EXPECT_EQ(json::parse(run({"sim", "check", "pile-up", "--json"}).out)["vms"], 4);
  std::istringstream wrong(
      "epochs = 0\nseeds = 1\n[host]\nnodes = 1\ncores_per_node = 1\n"
      "memory_per_node = '1GiB'\n");
  std::streambuf* const before = std::cin.rdbuf(wrong.rdbuf());
  const Outcome outcome = run({"sim", "check", "-"});
  std::cin.rdbuf(before);
  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "vmnuma: standard input:1: 'epochs' = 0 is out of range, it goes from 1 to 1000000\n"
            "vmnuma: standard input:2: there is no key 'seeds'; did you mean 'seed'?\n");
}

TEST(SimCommandsTest, AScenarioIsShownAsAFileThatCanBeRun) {
  const Outcome shown = run({"sim", "show", "pile-up"});
  EXPECT_EQ(shown.code, kExitOk) << shown.err;
  const auto read = parse_scenario(shown.out, "pile-up.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, *find_scenario("pile-up", kScenarioDirectory));
}

TEST(SimCommandsTest, ADrawnScenarioIsRunByItsName) {
  const Outcome outcome = run({"sim", "run", "drawn-1-0", "--epochs", "2", "--json"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["scenario"], "drawn-1-0");
}

TEST(SimCommandsTest, DrawnScenariosAreComparedByTheirSeed) {
  const Outcome outcome =
      run({"sim", "compare", "--drawn", "2", "--seed", "3", "--epochs", "2", "--json"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  const json rows = json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["scenario"], "drawn-3-0");
  EXPECT_EQ(rows[1]["scenario"], "drawn-3-1");
}

TEST(SimCommandsTest, AScenarioOnStandardInputIsRun) {
  std::istringstream text(
      "epochs = 3\n[host]\nnodes = 1\ncores_per_node = 1\n"
      "memory_per_node = '1GiB'\n");
  std::streambuf* const before = std::cin.rdbuf(text.rdbuf());
  const Outcome outcome = run({"sim", "run", "-", "--json"});
  std::cin.rdbuf(before);
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["epochs"], 3);
}

TEST(SimCommandsTest, WhatIsWrongIsSaidAndIsAUsageError) {
  const Outcome unknown = run({"sim", "run", "pile-upp"});
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'pile-up'?"));
  EXPECT_EQ(run({"sim"}).code, kExitUsage);
  EXPECT_EQ(run({"sim", "run"}).code, kExitUsage);
  EXPECT_EQ(run({"sim", "run", "pile-up", "--epochs", "0"}).code, kExitUsage);
  EXPECT_EQ(run({"sim", "run", "pile-up", "--seed", "-1"}).code, kExitUsage);
  EXPECT_EQ(run({"sim", "walk"}).code, kExitUsage);
  EXPECT_EQ(run({"sim", "run", "/nowhere/x.toml"}).code, kExitUsage);
}

}  // namespace
}  // namespace vmnuma::tools
