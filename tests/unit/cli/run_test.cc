// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/run.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"
#include "tests/support/time_zone.h"
#include "tests/support/views.h"
#include "tools/vmnuma/arguments/sched_stats.h"
#include "tools/vmnuma/text/view_text.h"
#include "tools/vmnuma/top/top_terminal.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::Command;
using balancer::DoneView;
using balancer::HistoryView;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::FakeDaemon;

/// A program run against a daemon that answers as told.
class RunTest : public ::testing::Test {
 protected:
  using Answers = std::function<Result<Answer>(const Command&)>;

  int run(const std::vector<std::string>& arguments, Answers answers) {
    FakeDaemon daemon(FakeDaemon::answering([this, &answers](const Command& command) {
      commands_.emplace_back(name_of(command));
      return answers(command);
    }));
    return run_at(daemon.socket_path(), arguments);
  }

  int run_at(const std::string& socket_path, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--socket", socket_path});
    const auto invocation = parse_arguments(arguments, tests::kNoonUnixS);
    EXPECT_TRUE(invocation) << invocation.error().text;
    out_.str("");
    err_.str("");
    pauses_.clear();
    Surroundings surroundings{out_, err_, is_terminal_,
                              [this](milliseconds time) {
                                pauses_.push_back(time);
                                return pauses_.size() < most_pauses_;
                              },
                              milliseconds(60000)};
    surroundings.open_terminal = open_terminal_;
    surroundings.err_is_terminal = err_is_terminal_;
    return tools::run(*invocation, surroundings);
  }

  std::ostringstream out_;
  std::ostringstream err_;
  bool is_terminal_ = false;
  bool err_is_terminal_ = false;
  std::function<Result<std::unique_ptr<TopTerminal>>()> open_terminal_;
  std::size_t most_pauses_ = 100;
  std::vector<milliseconds> pauses_;
  std::vector<std::string> commands_;  // written by the daemon's thread, read after it has ended

 private:
  tests::TimeZone zone_{"UTC"};
};

Result<Answer> status(const Command& command) {
  EXPECT_EQ(command, Command(balancer::StatusRequest{}));
  return tests::status_view();
}

TEST_F(RunTest, PrintsEachAnswerAsItsText) {
  EXPECT_EQ(run({"status"}, status), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("Mode        degraded (configured: active)\n"));
  EXPECT_EQ(run({"explain", "web1"},
                [](const Command& command) -> Result<Answer> {
                  EXPECT_EQ(command, Command(balancer::ExplainRequest{"web1"}));
                  return tests::explain_view();
                }),
            kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("VM web1 "));
  EXPECT_EQ(
      run({"history"}, [](const Command&) -> Result<Answer> { return tests::history_view(); }),
      kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("TIME "));
  EXPECT_EQ(run({"plan"}, [](const Command&) -> Result<Answer> { return tests::plan_view(); }),
            kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("Plan of epoch 1234"));
  EXPECT_EQ(
      run({"what-if"}, [](const Command&) -> Result<Answer> { return tests::what_if_view(); }),
      kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("Epoch 1234 "));
  EXPECT_EQ(run({"options", "list"},
                [](const Command&) -> Result<Answer> { return tests::options_view(); }),
            kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("NAME "));
  EXPECT_EQ(run({"options", "get", "Numa.MigThreshold"},
                [](const Command&) -> Result<Answer> { return tests::options_view().options[0]; }),
            kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("Numa.MigThreshold = 3 % (persisted)\n"));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"pause"},
                                                    {"resume"},
                                                    {"release", "web1"},
                                                    {"options", "set", "N", "1"},
                                                    {"move", "web1", "1"}}) {
    EXPECT_EQ(run(arguments,
                  [](const Command&) -> Result<Answer> {
                    return DoneView{"done", std::nullopt};
                  }),
              kExitOk);
    EXPECT_EQ(out_.str(), "done\n");
    EXPECT_EQ(err_.str(), "");
  }
}

TEST_F(RunTest, JsonIsTheResultInOneLine) {
  EXPECT_EQ(run({"--json", "pause"},
                [](const Command&) -> Result<Answer> {
                  return DoneView{"paused", 4};
                }),
            kExitOk);
  EXPECT_EQ(out_.str(), "{\"message\":\"paused\",\"action\":4}\n");
}

TEST_F(RunTest, TableInJsonHasWhatTheTextLacks) {
  EXPECT_EQ(run({"--json", "stats", "-t", "numa-clients"},
                [](const Command&) -> Result<Answer> { return tests::report(); }),
            kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr(R"("homeNode":0,"vmName":"web1"})"));
}

TEST_F(RunTest, TableCannotSteerTheTerminal) {
  EXPECT_EQ(run({"stats", "-t", "numa-clients"},
                [](const Command&) -> Result<Answer> {
                  stats::Report report = tests::report();
                  report.rows[0][0] = "\x1b[2J";
                  return report;
                }),
            kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\\x1b[2J"));
}

TEST_F(RunTest, SchedStatsSpeaksUnderItsOwnName) {
  const tests::TempDirectory directory;
  const auto invocation = parse_sched_stats_arguments(
      std::vector<std::string>{"-t", "numa-pnode", "--socket", directory.path() + "/none"});
  ASSERT_TRUE(invocation);
  Surroundings surroundings{out_, err_, false, {}, milliseconds(60000)};
  EXPECT_EQ(tools::run(*invocation, surroundings), kExitUnreachable);
  EXPECT_THAT(err_.str(), StartsWith("sched-stats: cannot connect to '"));
}

TEST_F(RunTest, RefusalIsExitOneWithItsReason) {
  EXPECT_EQ(run({"explain", "web1"},
                [](const Command&) -> Result<Answer> {
                  return failure(ErrorCode::kNotFound, "there is no VM 'web1'");
                }),
            kExitRefused);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "vmnuma: there is no VM 'web1'\n");
}

TEST_F(RunTest, AbsentDaemonIsExitThree) {
  const tests::TempDirectory directory;
  EXPECT_EQ(run_at(directory.path() + "/none", {"status"}), kExitUnreachable);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), StartsWith("vmnuma: cannot connect to '"));
}

TEST_F(RunTest, WithJsonAnErrorIsJson) {
  EXPECT_EQ(run({"--json", "explain", "web1"},
                [](const Command&) -> Result<Answer> {
                  return failure(ErrorCode::kNotFound, "there is no VM 'web1'");
                }),
            kExitRefused);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), R"({"error":{"code":"not-found","message":"there is no VM 'web1'"}})"
                        "\n");
}

TEST_F(RunTest, ConfigShowAsksTheDaemonWhatCounts) {
  const auto config = [](const Command& command) -> Result<Answer> {
    EXPECT_EQ(command, Command(balancer::ConfigRequest{}));
    return balancer::ConfigView{{{"mode", "active", balancer::Origin::kCommandLine},
                                 {"Numa.MigThreshold", "3", balancer::Origin::kRuntime}},
                                {"it is odd"}};
  };
  EXPECT_EQ(run({"config", "show"}, config), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("Configuration in effect, from the daemon at"));
  EXPECT_THAT(out_.str(), HasSubstr("\nit is odd\n\nKEY "));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("Numa.MigThreshold +3 +runtime\n"));
  EXPECT_EQ(run({"config", "show", "-o", "csv"}, config), kExitOk);
  EXPECT_EQ(out_.str(),
            "key,value,origin\nmode,active,command-line\nNuma.MigThreshold,3,runtime\n");
  EXPECT_EQ(run({"--json", "config", "show"}, config), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith(R"({"source":"daemon","path":")"));
  EXPECT_THAT(out_.str(), HasSubstr(R"({"key":"mode","value":"active","origin":"command-line"})"));
}

TEST_F(RunTest, ConfigShowOfAnotherDaemonThatDoesNotAnswerIsNotTheHostsFile) {
  const tests::TempDirectory directory;
  EXPECT_EQ(run_at(directory.path() + "/none", {"config", "show"}), kExitUnreachable);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(RunTest, ConfigShowTellsValuesWithTheirOriginAndConfigCheckEveryError) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/vmnuma.toml";
  std::ofstream(path) << "mode = \"active\"\nstate_dir = \"" << directory.path() << "\"\n";
  EXPECT_EQ(run_at("/none", {"config", "show", "--config", path}), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("Configuration that a starting daemon would read from"));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("mode +active +file\n"));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("Numa.MigThreshold +2 +default\n"));
  EXPECT_EQ(run_at("/none", {"config", "check", "--config", path}), kExitOk);
  EXPECT_EQ(out_.str(), "ok\n");
  std::ofstream(path) << "mood = \"active\"\non_stop = 3\n";
  EXPECT_EQ(run_at("/none", {"config", "check", "--config", path}), kExitUsage);
  EXPECT_THAT(err_.str(), ::testing::ContainsRegex("vmnuma: .*vmnuma.toml:1: .*'mood'\n"
                                                   "vmnuma: .*vmnuma.toml:2: .*on_stop"));
}

TEST_F(RunTest, ConfigCheckShowsNothingThatATerminalWouldObey) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/vmnuma.toml";
  std::ofstream(path) << "state_dir = \"" << directory.path() << "\"\n";
  std::ofstream(directory.path() + "/options.toml")
      << "[options]\n\"Numa.\xc2\x9b\\nmode = 1\" = 1\n\"Numa.Other\" = 1\n";
  for (const char* what : {"check", "show"}) {
    EXPECT_EQ(run_at("/none", {"config", what, "--config", path}), kExitOk);
    EXPECT_THAT(out_.str(), HasSubstr("Numa.\\u009b"));
    EXPECT_THAT(out_.str(), ::testing::Not(HasSubstr("\xc2\x9b")));
    EXPECT_THAT(out_.str(), ::testing::Not(HasSubstr("\nmode = 1")));
  }
}

TEST_F(RunTest, ReplayWaitsForNoPipe) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/night.rec";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(run_at("/none", {"replay", path}), kExitUsage);
  EXPECT_EQ(err_.str(), "vmnuma: '" + path + "' is not a regular file\n");
}

TEST_F(RunTest, TheOverviewTellsTheStateAndTheCommonestCommands) {
  EXPECT_EQ(run({}, status), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("mode degraded, epoch 1234, nodes 4, VMs 21; "));
  EXPECT_THAT(out_.str(), HasSubstr("see 'vmnuma status'"));
  EXPECT_THAT(out_.str(), HasSubstr("\n  vmnuma explain VM "));
  const tests::TempDirectory directory;
  EXPECT_EQ(run_at(directory.path() + "/none", {}), kExitUnreachable);
  EXPECT_THAT(out_.str(), StartsWith("cannot connect to '"));
  EXPECT_THAT(out_.str(), HasSubstr("\n  vmnuma doctor "));
}

Result<Answer> host_of_two(const Command& command) {
  EXPECT_EQ(command, Command(balancer::HostRequest{}));
  balancer::HostView host = tests::host_view();
  host.vms_known = true;
  return host;
}

TEST_F(RunTest, ListsVmsWithWhatTheirClientsComeTo) {
  EXPECT_EQ(run({"list"}, host_of_two), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("VM "));
  EXPECT_THAT(out_.str(),
              ::testing::ContainsRegex("web1 +0 +12 +68 +2 +16.0 GiB +93 +78.0 +21.0  moving\n"));
  EXPECT_THAT(out_.str(), HasSubstr("left alone: it"));
  EXPECT_EQ(run({"list", "-o", "name"}, host_of_two), kExitOk);
  EXPECT_EQ(out_.str(), "db \"7\"\nweb1\n");
  EXPECT_EQ(run({"list", "-o", "name", "--sort", "locality"}, host_of_two), kExitOk);
  EXPECT_EQ(out_.str(), "web1\ndb \"7\"\n");  // of the other it is not known
}

TEST_F(RunTest, ListSaysWhichHomesAreAssumed) {
  const auto in_dry_run = [](const Command& command) {
    Result<Answer> answer = host_of_two(command);
    auto& host = std::get<balancer::HostView>(*answer);
    for (balancer::VmView& vm : host.vms) {
      vm.managed = true;
      vm.transferring = false;
      for (balancer::VmClientView& client : vm.clients) {
        client.moving = false;
        client.home_assumed = vm.vm == "web1";
      }
    }
    return answer;
  };
  EXPECT_EQ(run({"list"}, in_dry_run), kExitOk);
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("\nweb1 [^\n]* home assumed\n"));
  EXPECT_THAT(out_.str(), ::testing::Not(::testing::ContainsRegex("\"7\" [^\n]* home assumed\n")));
}

TEST_F(RunTest, WhatListDoesNotKnowIsEmptyInCsvAndNullInJson) {
  EXPECT_EQ(run({"list", "-o", "csv"}, host_of_two), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("vm,homes,vcpus,load_pct,owed_pct,memory_bytes,"
                                     "locality_pct,huge_page_permille,memory_stall_permille,moves,"
                                     "vm_uuid,state\n\"db \"\"7\"\"\","));
  EXPECT_EQ(run({"--json", "list"}, host_of_two), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith(R"({"vms":[{"vm":"db \"7\"","vm_uuid":"1111)"));
  EXPECT_THAT(out_.str(), HasSubstr("\"locality_pct\":null"));
}

Result<Answer> events_so_far(const Command& command, std::int64_t last) {
  const auto* request = std::get_if<balancer::EventsRequest>(&command);
  if (request == nullptr) {
    return tests::status_view();
  }
  balancer::EventsView view;
  view.last = last;
  for (std::int64_t number = request->after + 1; number <= last; ++number) {
    view.events.push_back({number,
                           tests::kNoonUnixS + number,
                           balancer::Severity::kInfo,
                           "event " + std::to_string(number),
                           {},
                           std::nullopt,
                           ""});
  }
  return view;
}

TEST_F(RunTest, FollowingPrintsEachEventOnceAndOneHeader) {
  std::int64_t last = 2;
  most_pauses_ = 3;
  EXPECT_EQ(run({"events", "--follow"},
                [&last](const Command& command) {
                  const bool is_for_events =
                      std::holds_alternative<balancer::EventsRequest>(command);
                  return events_so_far(command, is_for_events ? last++ : last);
                }),
            kExitOk);
  EXPECT_EQ(out_.str(),
            "TIME                 LEVEL    EVENT\n"
            "2025-01-31 12:00:01  info     event 1\n"
            "2025-01-31 12:00:02  info     event 2\n"
            "2025-01-31 12:00:03  info     event 3\n"
            "2025-01-31 12:00:04  info     event 4\n");
  EXPECT_THAT(pauses_, ::testing::Each(milliseconds(tests::status_view().epoch_length_ms)));
}

TEST_F(RunTest, FollowingGoesOnWithADaemonThatWasStartedAnew) {
  std::size_t asked = 0;
  most_pauses_ = 2;
  EXPECT_EQ(run({"events", "--follow", "3", "--json"},
                [&](const Command& command) {
                  return events_so_far(command, asked == 0 ? (++asked, 9) : (++asked, 1));
                }),
            kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("event 9"));
  EXPECT_THAT(out_.str(), ::testing::EndsWith("\"last\":1,\"truncated\":false}\n"));
  const std::string printed = out_.str();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 2);
  EXPECT_EQ(pauses_.front(), milliseconds(3000));
}

TEST_F(RunTest, NoEventsAreSaidOnce) {
  EXPECT_EQ(run({"events"}, [](const Command& command) { return events_so_far(command, 0); }),
            kExitOk);
  EXPECT_EQ(out_.str(), "No events.\n");
}

TEST_F(RunTest, AnswerThatIsNoViewIsExitThree) {
  FakeDaemon daemon([](const std::string&) {
    return std::optional<std::string>("{\"version\":1,\"id\":1,\"ok\":true,\"result\":[]}\n");
  });
  EXPECT_EQ(run_at(daemon.socket_path(), {"status"}), kExitUnreachable);
  EXPECT_EQ(err_.str(),
            "vmnuma: the daemon's answer cannot be read: its result is not a JSON object\n");
}

TEST_F(RunTest, RefusalCannotSteerTheTerminal) {
  EXPECT_EQ(run({"explain", "x"},
                [](const Command&) -> Result<Answer> {
                  return failure(ErrorCode::kNotFound, "no '\x1b[2J'");
                }),
            kExitRefused);
  EXPECT_EQ(err_.str(), "vmnuma: no '\\x1b[2J'\n");
}

TEST_F(RunTest, FullOutputIsAnError) {
  out_.setstate(std::ios::badbit);
  EXPECT_EQ(run({"status"}, status), kExitRefused);
  EXPECT_EQ(err_.str(), "vmnuma: cannot write to standard output\n");
  const tests::TempDirectory root;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"doctor", "--root", root.path()},
        {"sim", "show", "drawn-1-1"},
        {}}) {
    EXPECT_EQ(run(words, [](const Command&) -> Result<Answer> { return tests::status_view(); }),
              kExitRefused)
        << ::testing::PrintToString(words);
  }
}

TEST_F(RunTest, WatchShowsTheAnswerEveryEpochOfTheDaemon) {
  most_pauses_ = 3;
  EXPECT_EQ(run({"status", "--watch"}, status), kExitOk);
  EXPECT_EQ(pauses_, (std::vector<milliseconds>{milliseconds(2000), milliseconds(2000),
                                                milliseconds(2000)}));
  const std::string once = text_of(tests::status_view());
  EXPECT_EQ(out_.str(), once + "\n" + once + "\n" + once);
}

TEST_F(RunTest, WatchRedrawsATerminal) {
  is_terminal_ = true;
  most_pauses_ = 2;
  EXPECT_EQ(run({"status", "--watch"}, status), kExitOk);
  const std::string text = out_.str();
  EXPECT_THAT(text, StartsWith("\x1b[H\x1b[JMode "));
  EXPECT_THAT(text.substr(8), HasSubstr("\x1b[H\x1b[JMode "));
}

TEST_F(RunTest, WatchInJsonIsOneLineAnEpoch) {
  most_pauses_ = 2;
  EXPECT_EQ(run({"status", "--watch", "--json"}, status), kExitOk);
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST_F(RunTest, WatchWithSecondsDoesNotAskForTheEpoch) {
  most_pauses_ = 2;
  EXPECT_EQ(run({"plan", "--watch", "7"},
                [](const Command&) -> Result<Answer> { return tests::plan_view(); }),
            kExitOk);
  EXPECT_EQ(pauses_, (std::vector<milliseconds>{milliseconds(7000), milliseconds(7000)}));
  EXPECT_EQ(commands_, (std::vector<std::string>{"plan", "plan"}));
}

Result<Answer> host(const Command& command) {
  return std::holds_alternative<balancer::HostRequest>(command) ? Answer(tests::host_view())
                                                                : Answer(tests::status_view());
}

TEST_F(RunTest, TopWithoutATerminalIsText) {
  EXPECT_EQ(run({"top"}, host), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("vmnuma degraded  epoch 1234"));
  EXPECT_THAT(out_.str(), HasSubstr("\nweb1/0 "));
  EXPECT_EQ(commands_, (std::vector<std::string>{"host", "status"}));
}

TEST_F(RunTest, TopInJsonIsTheHost) {
  EXPECT_EQ(run({"top", "--json"}, host), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("{\"epoch\":1234,"));
}

TEST_F(RunTest, TopTakesTheTerminalUnlessTextIsAskedFor) {
  open_terminal_ = []() -> Result<std::unique_ptr<TopTerminal>> {
    return failure(ErrorCode::kUnsupported, "the terminal was asked for");
  };
  EXPECT_EQ(run({"top", "--once"}, host), kExitOk);
  EXPECT_EQ(run({"top"}, host), kExitUnreachable);
  EXPECT_EQ(err_.str(), "vmnuma: the terminal was asked for\n");
}

TEST_F(RunTest, TopWithoutADaemonIsExitThreeAndLeavesTheTerminalAlone) {
  open_terminal_ = []() -> Result<std::unique_ptr<TopTerminal>> {
    ADD_FAILURE() << "opened";
    return failure(ErrorCode::kIo, "");
  };
  const tests::TempDirectory directory;
  EXPECT_EQ(run_at(directory.path() + "/none", {"top"}), kExitUnreachable);
  EXPECT_THAT(err_.str(), StartsWith("vmnuma: cannot connect to '"));
}

TEST_F(RunTest, ReportIsPrintedInTheShapeAskedFor) {
  FakeDaemon daemon(
      FakeDaemon::answering([](const Command&) -> Result<Answer> { return tests::report(); }));
  const auto invocation = parse_sched_stats_arguments(std::vector<std::string>{
      "-t", "numa-clients", "-z", "groupID", "-q", "--socket", daemon.socket_path()});
  ASSERT_TRUE(invocation);
  Surroundings surroundings{out_, err_, false, {}, milliseconds(60000)};
  EXPECT_EQ(tools::run(*invocation, surroundings), kExitOk);
  EXPECT_EQ(out_.str(), "groupID\n13424\n16408\n");
}

TEST_F(RunTest, WatchingOutlivesTheDaemonsRestartWithOneSentence) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"status", "--watch", "1"}, {"events", "--follow", "1"}}) {
    int answers = 0;
    most_pauses_ = 4;
    EXPECT_EQ(run(words,
                  [&answers](const Command& command) -> Result<Answer> {
                    ++answers;
                    return answers == 2 || answers == 3
                               ? Result<Answer>(failure(ErrorCode::kUnavailable, "stopping"))
                               : events_so_far(command, 1);
                  }),
              kExitOk);
    EXPECT_EQ(answers, 4);
    EXPECT_EQ(err_.str(), "vmnuma: stopping; trying again\n");
  }
}

TEST_F(RunTest, WatchingEndsIfThereWasNoDaemonToBeginWith) {
  const tests::TempDirectory directory;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"list", "--watch"}, {"events", "--follow"}}) {
    EXPECT_EQ(run_at(directory.path() + "/none", words), kExitUnreachable);
    EXPECT_EQ(pauses_.size(), 0U);
  }
}

TEST_F(RunTest, WatchedListsForProgramsHaveOneHeaderAndNoEmptyLines) {
  most_pauses_ = 2;
  EXPECT_EQ(run({"list", "--watch", "1", "-o", "name"}, host_of_two), kExitOk);
  EXPECT_EQ(out_.str(), "db \"7\"\nweb1\ndb \"7\"\nweb1\n");
  EXPECT_EQ(run({"list", "--watch", "1", "-o", "csv"}, host_of_two), kExitOk);
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_EQ(text.find("vm,homes"), text.rfind("vm,homes"));
}

TEST_F(RunTest, AGroupThatATableDoesNotHaveIsExitOne) {
  FakeDaemon daemon(
      FakeDaemon::answering([](const Command&) -> Result<Answer> { return tests::report(); }));
  const auto invocation = parse_sched_stats_arguments(std::vector<std::string>{
      "-t", "numa-clients", "-g", "typo", "--socket", daemon.socket_path()});
  ASSERT_TRUE(invocation);
  Surroundings surroundings{out_, err_, false, {}, milliseconds(60000)};
  EXPECT_EQ(tools::run(*invocation, surroundings), kExitRefused);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "sched-stats: numa-clients has no group 'typo'\n");
}

TEST_F(RunTest, WithJsonErrorsOfRecordingsAndScenariosAreJson) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"record", "/nowhere/f", "--json"},
        {"replay", "/nowhere/f", "--json"},
        {"sim", "check", "/nowhere/f", "--json"},
        {"sim", "search", "--against", "nobody", "--json"}}) {
    EXPECT_NE(run_at("/nowhere/socket", words), kExitOk);
    EXPECT_THAT(err_.str(), StartsWith(R"({"error":{"code":)")) << words[0];
  }
}

/// A daemon that accepts a move as action 12 and whose history goes through `states` (empty = no
/// row yet).
class MoveAnswers {
 public:
  explicit MoveAnswers(std::vector<std::string> states) : states_(std::move(states)) {}
  /// From this answer on the history knows what the move took.
  MoveAnswers& measured_from(std::size_t answer) {
    measured_from_ = answer;
    return *this;
  }

  Result<Answer> operator()(const Command& command) {
    if (std::holds_alternative<balancer::MoveRequest>(command)) {
      return DoneView{"moving", 12};
    }
    if (std::holds_alternative<balancer::StatusRequest>(command)) {
      balancer::StatusView status = tests::status_view();
      status.transfers[0].action = 12;
      return status;
    }
    const auto* request = std::get_if<balancer::HistoryRequest>(&command);
    if (request == nullptr || request->vm != "web1") {
      return failure(ErrorCode::kInvalidArgument, "not what waiting should ask");
    }
    HistoryView view;
    view.moves.emplace_back().action = 11;
    view.moves[0].state = "undone";
    const bool measured = next_ >= measured_from_;
    const std::string state = states_[std::min(next_++, states_.size() - 1)];
    if (!state.empty()) {
      view.moves.emplace_back().action = 12;
      view.moves[1].state = state;
      view.moves[1].detail = state == "done" ? "8 GiB moved" : "node 1 has no room";
      if (measured) {
        view.moves[1].outcome = tests::history_view().moves[0].outcome;
      }
    }
    return view;
  }

 private:
  std::vector<std::string> states_;
  std::size_t next_ = 0;
  std::size_t measured_from_ = SIZE_MAX;
};

TEST_F(RunTest, WaitReturnsWhenTheMoveIsDone) {
  EXPECT_EQ(run({"move", "web1", "1", "--wait"}, MoveAnswers({"", "open", "open", "done"})),
            kExitOk);
  EXPECT_EQ(out_.str(), "moving (action 12)\n8 GiB moved\n");
  EXPECT_EQ(pauses_.size(), 3U);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(RunTest, WaitInJsonIsOneLineWithBytesAndSeconds) {
  // Done at the second answer, measured at the fourth.
  EXPECT_EQ(run({"move", "web1", "1", "--wait", "--json"},
                MoveAnswers({"open", "done"}).measured_from(3)),
            kExitOk);
  EXPECT_EQ(out_.str(), R"({"message":"moving","action":12,"state":"done","detail":"8 GiB moved",)"
                        R"("moved_bytes":8589934592,"seconds":42.0})"
                        "\n");
  EXPECT_EQ(pauses_.size(), 3U);
}

TEST_F(RunTest, WaitInJsonEndsAlsoWhenNothingIsMeasured) {
  EXPECT_EQ(run({"move", "web1", "1", "--wait", "--json"}, MoveAnswers({"done"})), kExitOk);
  EXPECT_THAT(out_.str(), ::testing::EndsWith("\"moved_bytes\":null,\"seconds\":null}\n"));
  EXPECT_EQ(pauses_.size(), 39U);
}

TEST_F(RunTest, WaitOnATerminalShowsTheMemoryOnItsWay) {
  err_is_terminal_ = true;
  EXPECT_EQ(run({"move", "web1", "1", "--wait"}, MoveAnswers({"open", "done"})), kExitOk);
  // 3 of 8 GiB; gone at the end.
  EXPECT_EQ(err_.str(),
            "\r\x1b[Kweb1 to node 1  [#######.............]   37 %  3.0 GiB, 125.0 MiB/s\r\x1b[K");
  EXPECT_EQ(out_.str(), "moving (action 12)\n8 GiB moved\n");
  EXPECT_EQ(run({"move", "web1", "1", "--wait", "--json"}, MoveAnswers({"open", "dropped"})),
            kExitRefused);
  EXPECT_EQ(err_.str(), R"({"error":{"code":"unsupported","message":"action 12 was dropped: )"
                        R"(node 1 has no room"}})"
                        "\n");
}

TEST_F(RunTest, WithoutWaitNothingMoreIsAsked) {
  EXPECT_EQ(run({"move", "web1", "1"}, MoveAnswers({"open"})), kExitOk);
  EXPECT_EQ(commands_, (std::vector<std::string>{"move"}));
}

TEST_F(RunTest, WaitTellsWhyAMoveWasNotDone) {
  EXPECT_EQ(run({"move", "web1", "1", "--wait"}, MoveAnswers({"open", "undone"})), kExitRefused);
  EXPECT_EQ(err_.str(), "vmnuma: action 12 was undone: node 1 has no room\n");
  EXPECT_EQ(run({"move", "web1", "1", "--wait"}, MoveAnswers({"dropped"})), kExitRefused);
  EXPECT_EQ(err_.str(), "vmnuma: action 12 was dropped: node 1 has no room\n");
}

TEST_F(RunTest, WaitEndsWhereNothingIsRecorded) {
  EXPECT_EQ(run({"move", "web1", "1", "--wait"}, MoveAnswers({""})), kExitRefused);
  EXPECT_EQ(pauses_.size(), 20U);
  EXPECT_EQ(err_.str(),
            "vmnuma: action 12 is not in the history, so it cannot be seen when it is done\n");
}

TEST_F(RunTest, WaitNeedsAnAction) {
  EXPECT_EQ(run({"move", "web1", "1", "--wait"},
                [](const Command&) -> Result<Answer> {
                  return DoneView{"nothing to do", std::nullopt};
                }),
            kExitUnreachable);
}

}  // namespace
}  // namespace vmnuma::tools
