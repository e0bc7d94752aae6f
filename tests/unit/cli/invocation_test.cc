// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/invocation.h"

#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/config/config.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/reason.h"
#include "stats/reports/report.h"
#include "tools/client/sim_folder.h"
#include "tools/vmnuma/arguments/command_table.h"

namespace vmnuma::tools {
namespace {

using balancer::Command;
using balancer::HistoryRequest;
using balancer::MoveRequest;
using balancer::OptionsGetRequest;
using balancer::OptionsSetRequest;
using balancer::ReleaseRequest;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kNow = 1738324800;

using Arguments = std::vector<std::string>;

Invocation parsed(const Arguments& arguments) {
  const auto invocation = parse_arguments(arguments, kNow);
  EXPECT_TRUE(invocation) << invocation.error().text;
  return invocation.value_or(Invocation{});
}

/// What the daemon is asked.
Command asked(const Arguments& arguments) {
  return std::get<Command>(parsed(arguments).command);
}

template <class Run>
Run local(const Arguments& arguments) {
  return std::get<Run>(parsed(arguments).command);
}

/// The first line of what a wrong command line is answered with.
std::string complaint(const Arguments& arguments) {
  const auto invocation = parse_arguments(arguments, kNow);
  if (invocation) {
    return "accepted";
  }
  EXPECT_EQ(invocation.error().code, kExitUsage);
  EXPECT_THAT(invocation.error().text, ::testing::ContainsRegex("\nTry 'vmnuma .*--help'.\n"));
  return invocation.error().text.substr(0, invocation.error().text.find('\n'));
}

TEST(InvocationTest, DefaultsAreThoseOfTheManual) {
  const Invocation invocation = parsed({"status"});
  EXPECT_EQ(invocation.socket_path, "/run/vmnuma/vmnuma.sock");
  EXPECT_FALSE(invocation.json || invocation.watch || invocation.wait);
  EXPECT_EQ(std::get<Command>(invocation.command), Command(balancer::StatusRequest{}));
}

TEST(InvocationTest, ReadsEveryCommand) {
  EXPECT_EQ(asked({"stats", "-t", "numa-pnode"}), Command(balancer::StatsRequest{"numa-pnode"}));
  EXPECT_EQ(asked({"explain", "web1"}), Command(balancer::ExplainRequest{"web1"}));
  EXPECT_EQ(asked({"plan"}), Command(balancer::PlanRequest{}));
  EXPECT_EQ(asked({"pause"}), Command(balancer::PauseRequest{}));
  EXPECT_EQ(asked({"resume"}), Command(balancer::ResumeRequest{}));
  EXPECT_EQ(asked({"options", "list"}), Command(balancer::OptionsListRequest{}));
  EXPECT_EQ(asked({"options", "get", "Numa.X"}), Command(OptionsGetRequest{"Numa.X"}));
  EXPECT_EQ(asked({"options", "set", "Numa.X", "5"}),
            Command(OptionsSetRequest{"Numa.X", 5, false}));
  EXPECT_EQ(asked({"options", "set", "Numa.X", "5", "--persist"}),
            Command(OptionsSetRequest{"Numa.X", 5, true}));
  EXPECT_EQ(asked({"move", "web1", "0"}), Command(MoveRequest{"web1", {0}, std::nullopt}));
  EXPECT_EQ(asked({"move", "web1", "3", "--client", "2"}), Command(MoveRequest{"web1", {3}, 2}));
  EXPECT_EQ(asked({"release"}), Command(ReleaseRequest{}));
  EXPECT_EQ(asked({"release", "web1"}), Command(ReleaseRequest{"web1"}));
  EXPECT_EQ(asked({"manage"}), Command(balancer::ManageRequest{}));
  EXPECT_EQ(asked({"manage", "web1"}), Command(balancer::ManageRequest{"web1"}));
}

TEST(InvocationTest, ReadsReservations) {
  balancer::ReserveRequest reserve;
  reserve.name = "night";
  reserve.vcpus = 8;
  reserve.memory_bytes = std::int64_t{16} << 30U;
  EXPECT_EQ(asked({"reserve", "night", "--vcpus", "8", "--memory", "16GiB"}), Command(reserve));
  reserve.huge_page_bytes = 2 << 20;
  reserve.nodes = {{0}, {1}, {3}};
  reserve.vm = reserve.group = "db";
  reserve.until_unix_s = 1738324800;
  const Arguments all{"reserve",     "night", "--vcpus", "8",     "--memory", "16GiB",
                      "--hugepages", "2MiB",  "--on",    "0-1,3", "--for",    "db"};
  Arguments until = all;
  until.insert(until.end(), {"--until", "2025-01-31T12:00:00Z"});
  EXPECT_EQ(asked(until), Command(reserve));
  Arguments lasting = all;
  lasting.insert(lasting.end(), {"--lasting", "8h"});
  reserve.until_unix_s.reset();
  reserve.lasting_s = 8 * 3600;
  EXPECT_EQ(asked(lasting), Command(reserve));
  balancer::ReserveRequest shared;
  shared.name = "web";
  shared.vcpus = 8;
  shared.memory_bytes = std::int64_t{16} << 30U;
  shared.shared = true;
  EXPECT_EQ(asked({"reserve", "web", "--vcpus", "8", "--memory", "16GiB", "--shared"}),
            Command(shared));
  shared.shared = false;
  shared.owner = "shop";
  EXPECT_EQ(asked({"reserve", "web", "--vcpus", "8", "--memory", "16GiB", "--for-owner", "shop"}),
            Command(shared));
  EXPECT_EQ(asked({"reservations"}), Command(balancer::ReservationsRequest{}));
  balancer::ReservationHistoryRequest past;
  EXPECT_EQ(asked({"reservations", "--history"}), Command(past));
  past.name = "night";
  past.since_unix_s = kNow - 2 * 3600;
  past.limit = 7;
  EXPECT_EQ(asked({"reservations", "--history", "night", "--since", "2h", "--limit", "7"}),
            Command(past));
  EXPECT_THAT(complaint({"reservations", "--since", "2h"}), HasSubstr("--history"));
  EXPECT_EQ(asked({"unreserve", "night"}), Command(balancer::UnreserveRequest{"night"}));
  until.insert(until.end(), {"--lasting", "8h"});
  EXPECT_THAT(complaint(until), HasSubstr("excludes"));
  lasting.back() = "soon";
  EXPECT_THAT(complaint(lasting), HasSubstr("--lasting: 'soon' is not a duration"));
  lasting.back() = "0h";
  EXPECT_THAT(complaint(lasting), HasSubstr("--lasting is 0"));
  EXPECT_THAT(complaint({"reserve", "x", "--vcpus", "8"}), HasSubstr("--memory is required"));
}

TEST(InvocationTest, ReadsWhatIsPlayed) {
  EXPECT_EQ(asked({"sim", "start", "guest"}),
            Command(balancer::SimStartRequest{"guest", 4, 8192, 80}));
  EXPECT_EQ(asked({"sim", "start", "guest", "--vcpus", "8", "--memory", "512MiB", "--load", "0"}),
            Command(balancer::SimStartRequest{"guest", 8, 512, 0}));
  EXPECT_EQ(asked({"sim", "stop", "guest"}), Command(balancer::SimStopRequest{"guest"}));
  EXPECT_EQ(asked({"sim", "load", "guest", "35"}), Command(balancer::SimLoadRequest{"guest", 35}));
  EXPECT_EQ(
      complaint({"sim", "start", "guest", "--memory", "8G"}),
      "vmnuma: --memory: '8G' is not a size; write a number and MiB, GiB or TiB, such as 8GiB");
}

TEST(InvocationTest, TheSimulatedDaemonIsAskedForAndPlayedWith) {
  const std::string socket = sim_socket(sim_folder());
  EXPECT_EQ(parsed({"--sim", "status"}).socket_path, socket);
  EXPECT_EQ(parsed({"status", "--sim"}).socket_path, socket);
  EXPECT_EQ(parsed({"sim", "stop", "guest"}).socket_path, socket);
  EXPECT_EQ(parsed({"sim", "stop", "guest", "--socket", "/s"}).socket_path, "/s");
  EXPECT_EQ(parsed({"status"}).socket_path, balancer::kDefaultSocketPath);
  EXPECT_THAT(complaint({"status", "--sim", "--socket", "/s"}), HasSubstr("excludes"));
}

TEST(InvocationTest, ReadsForecasts) {
  const Arguments show{"forecast", "show", "web1", "--history", "h", "--json"};
  EXPECT_EQ(local<ForecastShowRun>(show).vm, "web1");
  EXPECT_EQ(local<ForecastShowRun>(show).history_path, "h");
  EXPECT_TRUE(parsed(show).json);
  const auto train =
      local<ForecastTrainRun>({"forecast", "train", "--history", "h", "--model", "m"});
  EXPECT_EQ(train.history_path, "h");
  EXPECT_EQ(train.model_path, "m");
  EXPECT_EQ(complaint({"forecast"}), "vmnuma: forecast needs one of show and train");
}

TEST(InvocationTest, ReadsPolicies) {
  EXPECT_EQ(asked({"set", "web1"}), Command(balancer::PolicyRequest{"web1"}));
  EXPECT_EQ(asked({"set", "web1", "nodes=0-1", "affinity_group=a=b", "prefer_ht="}),
            Command(balancer::SetRequest{
                "web1",
                {{"nodes", "0-1"}, {"affinity_group", "a=b"}, {"prefer_ht", std::nullopt}},
                false}));
  EXPECT_EQ(asked({"set", "web1", "nodes=0", "--persistent"}),
            Command(balancer::SetRequest{"web1", {{"nodes", "0"}}, true}));
  EXPECT_EQ(asked({"set", "web1", "--persistent"}),
            Command(balancer::SetRequest{"web1", {}, true}));
  EXPECT_EQ(complaint({"set", "web1", "nodes"}), "vmnuma: 'nodes' is not of the form KEY=VALUE");
  EXPECT_EQ(complaint({"set", "web1", "=0"}), "vmnuma: '=0' is not of the form KEY=VALUE");
}

TEST(InvocationTest, ReadsTheFiltersOfTheHistory) {
  EXPECT_EQ(asked({"history"}), Command(HistoryRequest{}));
  HistoryRequest history;
  history.limit = 7;
  history.since_unix_s = kNow - 7200;
  history.until_unix_s = kNow - 3600;
  history.vm = "web1";
  history.node = NodeId{2};
  history.reason = "load-move";
  EXPECT_EQ(asked({"history", "--limit", "7", "--since", "2h", "--until", "1h", "--vm", "web1",
                   "--node=2", "--reason", "load-move"}),
            Command(history));
  EXPECT_THAT(complaint({"history", "--until", "soon"}),
              HasSubstr("--until: 'soon' is not a time"));
}

TEST(InvocationTest, ReadsTheFiltersOfTheEvents) {
  const auto events = local<EventsRun>({"events", "--vm", "web1", "--level", "warning", "--since",
                                        "2h", "--limit", "7", "--follow"});
  balancer::EventsRequest request;
  request.vm = "web1";
  request.level = balancer::Severity::kWarning;
  request.since_unix_s = kNow - 7200;
  request.limit = 7;
  EXPECT_EQ(events.request, request);
  EXPECT_TRUE(events.follow);
  EXPECT_EQ(local<EventsRun>({"events"}).request, balancer::EventsRequest{});
  EXPECT_EQ(complaint({"events", "--level", "warnin"}),
            "vmnuma: --level: there is no value 'warnin'; did you mean 'warning'?");
}

TEST(InvocationTest, WhateverListsTakesAFormat) {
  for (const Arguments& command : {Arguments{"list"},
                                   {"history"},
                                   {"events"},
                                   {"memory"},
                                   {"stats", "-t", "numa-pnode"},
                                   {"options", "list"},
                                   {"sim", "list"}}) {
    for (std::size_t i = 0; i < kListFormats.size(); ++i) {
      Arguments words = command;
      words.insert(words.end(), {"-o", std::string(kListFormats[i])});
      EXPECT_EQ(parsed(words).format, static_cast<ListFormat>(i));
      EXPECT_EQ(parsed(words).json, kListFormats[i] == "json");
    }
  }
  EXPECT_EQ(complaint({"list", "-o", "tables"}),
            "vmnuma: -o: there is no format 'tables'; did you mean 'table'?");
}

TEST(InvocationTest, AUserWhoAsksForJsonGetsErrorsOfTheCommandLineAsJson) {
  for (const Arguments& wrong : {Arguments{"--json", "lsit"},
                                 {"list", "--bogus", "--json"},
                                 {"list", "-o", "json", "x"},
                                 {"options", "--json"}}) {
    const auto invocation = parse_arguments(wrong, kNow);
    ASSERT_FALSE(invocation);
    EXPECT_EQ(invocation.error().code, kExitUsage);
    EXPECT_THAT(
        invocation.error().text,
        ::testing::MatchesRegex(R"(\{"error":\{"code":"invalid-argument","message":".*"\}\}.)"));
  }
}

TEST(InvocationTest, HelpMayStandBehindOptions) {
  for (const Arguments& words : {Arguments{"help", "events"},
                                 {"--sim", "help", "events"},
                                 {"--socket", "/s", "help", "events"}}) {
    const auto invocation = parse_arguments(words, kNow);
    ASSERT_FALSE(invocation);
    EXPECT_EQ(invocation.error().code, kExitOk);
    EXPECT_THAT(invocation.error().text, HasSubstr("vmnuma events [OPTIONS]"));
  }
  // Of a VM that is called so.
  EXPECT_EQ(asked({"explain", "help"}), Command(balancer::ExplainRequest{"help"}));
}

/// Calls `visit` with the words of each command, and of those that others belong to.
void each_command(const CommandInfo& command, const std::string& path,
                  const std::function<void(const std::string&, const CommandInfo&)>& visit) {
  visit(path, command);
  for (const CommandInfo& below : command.commands) {
    each_command(below, path + " " + below.name, visit);
  }
}

TEST(InvocationTest, EveryCommandHasAnExampleOfItselfThatCanBeRead) {
  each_command(command_table(), "vmnuma", [](const std::string& path, const CommandInfo& command) {
    EXPECT_EQ(command.examples.empty(), !command.commands.empty()) << path;
    for (const std::string& example : command.examples) {
      EXPECT_THAT(example, StartsWith(path));
      std::istringstream words(example.substr(std::string("vmnuma ").size()));
      using Words = std::istream_iterator<std::string>;
      (void)parsed(Arguments(Words(words), Words()));
    }
  });
}

TEST(InvocationTest, EveryCommandAndEveryGroupOfCommandsHasAHelp) {
  for (const CommandInfo& command : command_table().commands) {
    each_command(command, command.name, [](const std::string& path, const CommandInfo& one) {
      EXPECT_NE(one.help, "") << path;
    });
  }
}

TEST(InvocationTest, ReadsWhatIsSupposed) {
  balancer::WhatIfRequest request;
  EXPECT_EQ(asked({"what-if"}), Command(request));
  request.add = {{32, std::int64_t{128} << 30, std::nullopt, 100},
                 {2, std::int64_t{512} << 20, 80, 50}};
  request.remove = {"web1", "web2"};
  request.move = {{"db=1", {1}, std::nullopt}, {"wide", {0}, 2}};
  request.options = {{"Numa.MigThreshold", 5}, {"Numa.PreferHT", 1}};
  EXPECT_EQ(
      asked({"what-if", "--add", "vcpus=32,memory=128GiB", "--remove", "web1", "--move", "db=1=1",
             "--option", "Numa.MigThreshold=5", "--add", "load=80,memory=512MiB,vcpus=2,weight=50",
             "--remove", "web2", "--move", "wide/2=0", "--option=Numa.PreferHT=1", "--json"}),
      Command(request));
}

TEST(InvocationTest, ReadsRecordingAndReplaying) {
  const auto record = local<RecordRun>({"record", "/f", "--epochs", "9", "--anonymize"});
  EXPECT_EQ(record.path, "/f");
  EXPECT_EQ(record.request.epochs, 9);
  EXPECT_TRUE(record.request.anonymize);
  EXPECT_FALSE(local<RecordRun>({"record", "/f"}).request.epochs);
  const auto replay =
      local<ReplayRun>({"replay", "/f", "--options", "Numa.X=1", "--options", "Numa.Y=-2"});
  EXPECT_EQ(replay.path, "/f");
  EXPECT_EQ(replay.options,
            (std::vector<std::pair<std::string, std::int64_t>>{{"Numa.X", 1}, {"Numa.Y", -2}}));
  EXPECT_EQ(complaint({"record"}), "vmnuma: FILE is required");
  EXPECT_THAT(complaint({"replay", "/f", "--options", "x"}), HasSubstr("is not an option"));
  EXPECT_THAT(complaint({"record", "/f", "--epochs", "0"}), HasSubstr("--epochs"));
}

TEST(InvocationTest, WhatCannotBeSupposedIsNamed) {
  const auto of = [](const char* option, const char* text) {
    return complaint({"what-if", option, text});
  };
  EXPECT_EQ(of("--add", "vcpus=32"),
            "vmnuma: --add: 'vcpus=32' must have vcpus and memory, such as "
            "'vcpus=32,memory=128GiB'");
  EXPECT_EQ(of("--add", "vcpu=32,memory=1GiB"),
            "vmnuma: --add: 'vcpu=32,memory=1GiB' has no 'vcpu'; did you mean 'vcpus'?");
  EXPECT_EQ(of("--add", "8"), "vmnuma: --add: '8' is not KEY=VALUE; write vcpus=32,memory=128GiB");
  for (const char* text : {"vcpus=0,memory=1GiB", "vcpus=two,memory=1GiB", "vcpus=2,memory=1G",
                           "vcpus=2,memory=-1GiB", "vcpus=2,memory=99999999999999TiB",
                           "vcpus=2,memory=1GiB,load=101", "vcpus=2,memory=1GiB,weight=0"}) {
    EXPECT_THAT(of("--add", text), HasSubstr("is not understood; write vcpus=32")) << text;
  }
  for (const char* text : {"web1", "web1=", "=1", "web1=one", "web1=-1", "web1/x=1"}) {
    EXPECT_THAT(of("--move", text), HasSubstr("is not a move; write VM=NODE")) << text;
  }
  EXPECT_THAT(of("--option", "Numa.X"), HasSubstr("is not an option; write NAME=INTEGER"));
  EXPECT_THAT(of("--option", "Numa.X=1.5"), HasSubstr("is not an option"));
  EXPECT_EQ(complaint({"what-if", "web1"}), "vmnuma: there is no argument 'web1'");
}

TEST(InvocationTest, GlobalOptionsMayStandBeforeOrAfterTheCommand) {
  for (const Arguments& arguments : {Arguments{"--json", "--socket", "/s", "status"},
                                     Arguments{"status", "--json", "--socket", "/s"},
                                     Arguments{"options", "get", "N", "--socket=/s", "--json"},
                                     Arguments{"--json", "options", "--socket", "/s", "list"}}) {
    EXPECT_TRUE(parsed(arguments).json);
    EXPECT_EQ(parsed(arguments).socket_path, "/s");
  }
}

TEST(InvocationTest, FlagsOfSingleCommands) {
  EXPECT_TRUE(parsed({"status", "--watch"}).watch);
  EXPECT_TRUE(parsed({"stats", "-t", "numa-pnode", "--watch"}).watch);
  EXPECT_TRUE(parsed({"move", "web1", "0", "--wait"}).wait);
  EXPECT_EQ(complaint({"pause", "--watch"}), "vmnuma: there is no option '--watch'");
}

TEST(InvocationTest, EveryReadingCommandCanBeWatched) {
  for (const Arguments& arguments :
       {Arguments{"status"}, Arguments{"top"}, Arguments{"stats", "-t", "numa-pnode"},
        Arguments{"explain", "web1"}, Arguments{"history"}, Arguments{"plan"}, Arguments{"what-if"},
        Arguments{"options", "list"}, Arguments{"options", "get", "N"}, Arguments{"list"}}) {
    Arguments before = arguments;
    before.insert(before.begin(), {"--watch", "7"});
    EXPECT_EQ(parsed(before).watch_seconds, 7) << arguments[0];
    Arguments watched = arguments;
    watched.emplace_back("--watch");
    EXPECT_TRUE(parsed(watched).watch) << arguments[0];
    EXPECT_EQ(parsed(watched).watch_seconds, 0);
    watched.emplace_back("5");
    EXPECT_EQ(parsed(watched).watch_seconds, 5) << arguments[0];
    EXPECT_FALSE(parsed(arguments).watch);
  }
}

TEST(InvocationTest, WordBehindWatchIsSecondsOnlyIfItIsANumber) {
  const Invocation invocation = parsed({"explain", "--watch", "web1"});
  EXPECT_TRUE(invocation.watch);
  EXPECT_EQ(std::get<Command>(invocation.command), Command(balancer::ExplainRequest{"web1"}));
  EXPECT_EQ(asked({"explain", "--watch=7", "5"}), Command(balancer::ExplainRequest{"5"}));
  EXPECT_EQ(asked({"explain", "--", "--watch"}), Command(balancer::ExplainRequest{"--watch"}));
  EXPECT_THAT(complaint({"status", "--watch", "86401"}), HasSubstr("86401"));
  EXPECT_THAT(complaint({"status", "--watch=soon"}), HasSubstr("soon"));
}

TEST(InvocationTest, MistypedReasonNamesTheNearest) {
  EXPECT_EQ(complaint({"history", "--reason", "load-mov"}),
            "vmnuma: --reason: there is no reason 'load-mov'; did you mean 'load-move'?");
}

TEST(InvocationTest, HistoryListsStartsThatWereNotAdmitted) {
  HistoryRequest history;
  history.reason = "admission";
  EXPECT_EQ(asked({"history", "--reason", "admission"}), Command(history));
}

TEST(InvocationTest, DoctorLooksAtThisHostOrACopyOfOne) {
  EXPECT_EQ(local<DoctorRun>({"doctor"}).root, "/");
  EXPECT_EQ(local<DoctorRun>({"doctor", "--root", "/mnt"}).root, "/mnt");
  EXPECT_EQ(complaint({"doctr"}), "vmnuma: there is no command 'doctr'; did you mean 'doctor'?");
}

TEST(InvocationTest, TopFillsTheScreenUnlessTextIsAskedFor) {
  EXPECT_EQ(asked({"top"}), Command(balancer::HostRequest{}));
  EXPECT_EQ(asked({"memory"}), Command(balancer::MemoryRequest{}));
  EXPECT_TRUE(parsed({"top"}).full_screen);
  EXPECT_FALSE(parsed({"top", "--once"}).full_screen);
  EXPECT_FALSE(parsed({"top", "--json"}).full_screen);
  EXPECT_FALSE(parsed({"top", "--watch"}).full_screen);
  EXPECT_FALSE(parsed({"status"}).full_screen);
}

TEST(InvocationTest, VmMayBeCalledLikeACommand) {
  EXPECT_EQ(asked({"explain", "status"}), Command(balancer::ExplainRequest{"status"}));
  EXPECT_EQ(asked({"move", "list", "1"}), Command(MoveRequest{"list", {1}, std::nullopt}));
  EXPECT_EQ(asked({"explain", "--", "-x"}), Command(balancer::ExplainRequest{"-x"}));
}

TEST(InvocationTest, MistypedWordsNameTheNearest) {
  EXPECT_EQ(complaint({"explian", "web1"}),
            "vmnuma: there is no command 'explian'; did you mean 'explain'?");
  EXPECT_EQ(complaint({"options", "lst"}),
            "vmnuma: there is no command 'lst'; did you mean 'list'?");
  EXPECT_EQ(complaint({"--jsn", "status"}),
            "vmnuma: there is no option '--jsn'; did you mean '--json'?");
  EXPECT_EQ(complaint({"status", "--wtch"}),
            "vmnuma: there is no option '--wtch'; did you mean '--watch'?");
  EXPECT_EQ(complaint({"history", "--limt", "3"}),
            "vmnuma: there is no option '--limt'; did you mean '--limit'?");
  EXPECT_EQ(complaint({"frobnicate"}), "vmnuma: there is no command 'frobnicate'");
  EXPECT_EQ(complaint({"lsit"}), "vmnuma: there is no command 'lsit'; did you mean 'list'?");
  EXPECT_EQ(complaint({"mvoe", "db1", "1"}),
            "vmnuma: there is no command 'mvoe'; did you mean 'move'?");
  EXPECT_EQ(complaint({"list", "-o", "tabel"}),
            "vmnuma: -o: there is no format 'tabel'; did you mean 'table'?");
}

TEST(InvocationTest, MissingAndSuperfluousWordsAreNamed) {
  EXPECT_EQ(complaint({"options"}), "vmnuma: options needs one of list, get and set");
  EXPECT_EQ(complaint({"explain"}), "vmnuma: VM is required");
  EXPECT_EQ(complaint({"stats"}), "vmnuma: -t is required");
  EXPECT_EQ(complaint({"move", "web1"}), "vmnuma: NODE is required");
  EXPECT_EQ(complaint({"status", "web1"}), "vmnuma: there is no argument 'web1'");
  EXPECT_EQ(complaint({"explain", "web1", "web2"}), "vmnuma: there is no argument 'web2'");
}

TEST(InvocationTest, WithoutACommandThereIsAnOverview) {
  (void)local<OverviewRun>({});
  EXPECT_EQ(parsed({"--socket", "/s"}).socket_path, "/s");
}

TEST(InvocationTest, HelpAndVersionAreWordsToo) {
  const auto text = [](const Arguments& arguments) {
    const auto invocation = parse_arguments(arguments, kNow);
    return invocation ? "accepted" : invocation.error().text;
  };
  EXPECT_EQ(text({"help"}), text({"--help"}));
  EXPECT_EQ(text({"help", "explain"}), text({"explain", "--help"}));
  EXPECT_EQ(text({"help", "sim", "run"}), text({"sim", "run", "--help"}));
  EXPECT_EQ(text({"version"}), text({"--version"}));
  EXPECT_EQ(text({"--sim", "version"}), text({"--version"}));
}

TEST(InvocationTest, HelpOfACommandThatDoesNotExistNamesTheNearest) {
  EXPECT_EQ(complaint({"help", "explian"}),
            "vmnuma: there is no command 'explian'; did you mean 'explain'?");
  EXPECT_EQ(complaint({"explian", "--help"}),
            "vmnuma: there is no command 'explian'; did you mean 'explain'?");
  EXPECT_EQ(complaint({"help", "sim", "strat"}),
            "vmnuma: there is no command 'strat'; did you mean 'start'?");
}

TEST(InvocationTest, TheFormatMayStandBeforeTheCommand) {
  EXPECT_EQ(parsed({"-o", "csv", "list"}).format, ListFormat::kCsv);
  EXPECT_EQ(parsed({"--sim", "-ocsv", "options", "list"}).format, ListFormat::kCsv);
  EXPECT_TRUE(parsed({"-o", "json", "events", "--vm", "web1"}).json);
  EXPECT_EQ(parsed({"-o", "csv", "list", "--"}).format, ListFormat::kCsv);
  EXPECT_EQ(complaint({"-o", "csv", "status"}), "vmnuma: there is no option '-o'");
  EXPECT_EQ(complaint({"-o", "jsno", "list"}),
            "vmnuma: -o: there is no format 'jsno'; did you mean 'json'?");
}

TEST(InvocationTest, AWrongLineNamesTheHelpOfItsCommand) {
  const auto hint = [](const Arguments& arguments) {
    const std::string text = parse_arguments(arguments, kNow).error().text;
    return text.substr(text.find('\n') + 1);
  };
  EXPECT_EQ(hint({"frob"}), "Try 'vmnuma --help'.\n");
  EXPECT_EQ(hint({"explain"}), "Try 'vmnuma explain --help'.\n");
  EXPECT_EQ(hint({"sim", "run"}), "Try 'vmnuma sim run --help'.\n");
}

TEST(InvocationTest, ListSortsAndPrintsAsAsked) {
  EXPECT_EQ(local<ListRun>({"list"}).order, ListOrder::kName);
  EXPECT_EQ(parsed({"list"}).format, ListFormat::kTable);
  EXPECT_EQ(local<ListRun>({"list", "--sort", "locality"}).order, ListOrder::kLocality);
  EXPECT_EQ(parsed({"list", "-o", "name"}).format, ListFormat::kName);
  EXPECT_EQ(complaint({"list", "--sort", "localty"}),
            "vmnuma: --sort: there is no value 'localty'; did you mean 'locality'?");
}

TEST(InvocationTest, ATableThatDoesNotExistIsRefusedBeforeTheDaemonIsAsked) {
  EXPECT_EQ(complaint({"stats", "-t", "numa-pnod"}),
            "vmnuma: -t: there is no report 'numa-pnod'; did you mean 'numa-pnode'?");
}

TEST(InvocationTest, WrongValuesAreNamed) {
  EXPECT_EQ(complaint({"history", "--limit", "0"}),
            "vmnuma: --limit: '0' is not a number from 1 to 1000");
  EXPECT_EQ(complaint({"history", "--limit", "1001"}),
            "vmnuma: --limit: '1001' is not a number from 1 to 1000");
  EXPECT_EQ(complaint({"history", "--limit"}), "vmnuma: --limit N: the value is missing");
  EXPECT_EQ(complaint({"list", "-o"}), "vmnuma: -o table|wide|json|csv|name: the value is missing");
  EXPECT_EQ(complaint({"list", "-o", "xml"}),
            "vmnuma: -o: there is no format 'xml'; there are table, wide, json, csv, name");
  EXPECT_THAT(complaint({"history", "--since", "soon"}),
              StartsWith("vmnuma: --since: 'soon' is not a time;"));
  EXPECT_THAT(complaint({"move", "web1", "-1"}), StartsWith("vmnuma: "));
  EXPECT_THAT(complaint({"move", "web1", "one"}), HasSubstr("NODE"));
  EXPECT_THAT(complaint({"options", "set", "Numa.X", "many"}), HasSubstr("VALUE"));
  EXPECT_THAT(complaint({"options", "set", "Numa.X", "99999999999999999999"}), HasSubstr("VALUE"));
}

TEST(InvocationTest, AnEmptyNameIsNotTakenForNone) {
  for (const Arguments& words : {Arguments{"release", ""},
                                 {"manage", ""},
                                 {"events", "--vm", ""},
                                 {"history", "--vm", ""},
                                 {"forecast", "show", ""},
                                 {"events", "--since", ""}}) {
    EXPECT_THAT(complaint(words), ::testing::EndsWith(": must not be empty")) << words[0];
  }
}

TEST(InvocationTest, WhatChangesNothingWithoutAnotherOptionNeedsIt) {
  const Arguments room{"make-room", "--vcpus", "2", "--memory", "1GiB", "--yes"};
  EXPECT_EQ(complaint(room), "vmnuma: --yes needs --do");
  EXPECT_EQ(complaint({"advise", "web1", "--yes"}), "vmnuma: --yes needs --apply or --undo");
  EXPECT_EQ(complaint({"sim", "compare", "--seed", "7"}), "vmnuma: --seed needs --drawn");
  EXPECT_TRUE(local<AdviseRun>({"advise", "web1", "--undo", "--yes"}).yes);
}

TEST(InvocationTest, AnOptionBeforeItsCommandAndOneThatIsAnArgumentAreCalledThat) {
  EXPECT_EQ(complaint({"--once", "top"}), "vmnuma: '--once' belongs after 'top'");
  EXPECT_EQ(complaint({"status", "--", "--watch"}), "vmnuma: there is no argument '--watch'");
  EXPECT_EQ(complaint({"--", "status"}), "vmnuma: there is no argument 'status'");
}

TEST(InvocationTest, HelpNamesEveryValueThatIsTaken) {
  const auto help = [](const Arguments& arguments) {
    return parse_arguments(arguments, kNow).error().text;
  };
  for (const std::string_view type : stats::report_types()) {
    EXPECT_THAT(help({"stats", "--help"}), HasSubstr(std::string(type)));
  }
  for (const std::string_view reason : names(Reason{})) {
    EXPECT_THAT(help({"history", "--help"}), HasSubstr(std::string(reason)));
  }
  for (const std::string_view format : names(AdviseFormat{})) {
    EXPECT_THAT(help({"advise", "--help"}), HasSubstr(std::string(format)));
  }
  for (const auto& key : balancer::policy_keys()) {
    EXPECT_THAT(help({"set", "--help"}), HasSubstr(std::string(key.name)));
  }
}

TEST(InvocationTest, HelpTellsHowACommandEndsThatHasWaysOfItsOwn) {
  const auto help = [](const std::string& command) {
    return parse_arguments(Arguments{command, "--help"}, kNow).error().text;
  };
  EXPECT_THAT(help("doctor"), HasSubstr("\nExit status: 0 all is well, 4 warnings, 5 errors\n"));
  EXPECT_THAT(help("replay"), HasSubstr("\nExit status: 1 also if "));
  EXPECT_THAT(help("status"), ::testing::Not(HasSubstr("Exit status")));
}

TEST(InvocationTest, WhatListsTakesAFormat) {
  for (const Arguments& words : {Arguments{"config", "show"},
                                 {"doctor"},
                                 {"set", "web1"},
                                 {"pve", "status"},
                                 {"sim", "compare", "swap-only"}}) {
    Arguments arguments = words;
    arguments.insert(arguments.end(), {"-o", "csv"});
    EXPECT_EQ(parsed(arguments).format, ListFormat::kCsv) << words[0];
  }
}

TEST(InvocationTest, HelpAndVersionAreNoErrors) {
  const auto help = parse_arguments(Arguments{"--help"}, kNow);
  ASSERT_FALSE(help);
  EXPECT_EQ(help.error().code, kExitOk);
  EXPECT_THAT(help.error().text, HasSubstr("Usage: vmnuma"));
  const auto of_command = parse_arguments(Arguments{"history", "--help"}, kNow);
  ASSERT_FALSE(of_command);
  EXPECT_THAT(of_command.error().text, HasSubstr("--since"));
  const auto version = parse_arguments(Arguments{"--version"}, kNow);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, kExitOk);
  EXPECT_EQ(version.error().text, "vmnuma " VMNUMA_VERSION "\n");
}

TEST(InvocationTest, HelpFitsTheTerminal) {
  each_command(command_table(), "vmnuma", [](const std::string& path, const CommandInfo&) {
    std::istringstream words(path.substr(std::string("vmnuma").size()));
    using Words = std::istream_iterator<std::string>;
    Arguments arguments{Words(words), Words()};
    arguments.emplace_back("--help");
    const auto help = parse_arguments(arguments, kNow);
    ASSERT_FALSE(help);
    std::istringstream lines(help.error().text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << path << ": " << line;
    }
  });
}

}  // namespace
}  // namespace vmnuma::tools
