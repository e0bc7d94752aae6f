// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/request.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string line(std::string_view command, std::string_view args) {
  return R"({"version":1,"id":7,"command":")" + std::string(command) + R"(","args":)" +
         std::string(args) + "}";
}

/// The message that refuses a line.
std::string refusal(std::string_view text) {
  const auto request = parse_request(text);
  return request ? "accepted" : request.error().error.message;
}

template <class T>
T parsed(std::string_view text) {
  const auto request = parse_request(text);
  EXPECT_TRUE(request) << request.error().error.message;
  if (!request || !std::holds_alternative<T>(request->command)) {
    ADD_FAILURE() << text << " is not the command " << T::kCommand;
    return T{};
  }
  EXPECT_EQ(request->id, 7);
  return std::get<T>(request->command);
}

TEST(RequestTest, ReadsEveryCommandWithAllItsArguments) {
  (void)parsed<StatusRequest>(line("status", "{}"));
  EXPECT_EQ(parsed<StatsRequest>(line("stats", R"({"type":"numa-pnode"})")).type, "numa-pnode");
  EXPECT_EQ(parsed<ExplainRequest>(line("explain", R"({"vm":"web1"})")).vm, "web1");
  HistoryRequest history;
  history.limit = 3;
  history.since_unix_s = 1738324800;
  history.until_unix_s = 1738328400;
  history.vm = "web1";
  history.node = NodeId{2};
  history.reason = "load-move";
  EXPECT_EQ(parsed<HistoryRequest>(line("history",
                                        R"({"limit":3,"since":"2025-01-31T12:00:00Z",)"
                                        R"("until":"2025-01-31T13:00:00Z","vm":"web1","node":2,)"
                                        R"("reason":"load-move"})")),
            history);
  (void)parsed<PlanRequest>(line("plan", "{}"));
  (void)parsed<PauseRequest>(line("pause", "{}"));
  (void)parsed<ResumeRequest>(line("resume", "{}"));
  (void)parsed<OptionsListRequest>(line("options-list", "{}"));
  EXPECT_EQ(parsed<OptionsGetRequest>(line("options-get", R"({"name":"Numa.PreferHT"})")).name,
            "Numa.PreferHT");
  EXPECT_EQ(parsed<OptionsSetRequest>(
                line("options-set", R"({"name":"Numa.PreferHT","value":1,"persist":true})")),
            (OptionsSetRequest{"Numa.PreferHT", 1, true}));
  EXPECT_EQ(parsed<MoveRequest>(line("move", R"({"vm":"web1","node":1,"client":2})")),
            (MoveRequest{"web1", {1}, 2}));
  EXPECT_EQ(parsed<MoveTogetherRequest>(
                line("move-together", R"({"moves":[{"vm":"web1","client":1,"from":0,"to":2}]})")),
            (MoveTogetherRequest{{{"web1", 1, {0}, {2}}}}));
  ReserveRequest reserve;
  reserve.name = "night";
  reserve.vcpus = 8;
  reserve.memory_bytes = 1024;
  reserve.huge_page_bytes = 2097152;
  reserve.nodes = {{0}, {2}};
  reserve.vm = "db1";
  reserve.group = "db";
  reserve.until_unix_s = 1738324800;
  reserve.owner = "shop";
  reserve.shared = true;
  reserve.lasting_s = 60;
  EXPECT_EQ(parsed<ReserveRequest>(line(
                "reserve",
                R"({"name":"night","vcpus":8,"memory_bytes":1024,)"
                R"("huge_page_bytes":2097152,"nodes":[0,2],"vm":"db1","group":"db","owner":"shop",)"
                R"("until":"2025-01-31T12:00:00Z","shared":true,"lasting_s":60})")),
            reserve);
  EXPECT_EQ(parsed<UnreserveRequest>(line("unreserve", R"({"name":"night"})")).name, "night");
  (void)parsed<ReservationsRequest>(line("reservations", "{}"));
  ReservationHistoryRequest past;
  past.limit = 7;
  past.since_unix_s = 1738324800;
  past.name = "night";
  EXPECT_EQ(
      parsed<ReservationHistoryRequest>(line(
          "reservation-history", R"({"limit":7,"since":"2025-01-31T12:00:00Z","name":"night"})")),
      past);
  EXPECT_THAT(refusal(line("reservation-history", R"({"limit":1001})")),
              HasSubstr("a number from 1 to 1000"));
  (void)parsed<ConfigRequest>(line("config", "{}"));
  EXPECT_EQ(parsed<ReleaseRequest>(line("release", R"({"vm":"web1"})")).vm, "web1");
  EXPECT_EQ(parsed<ManageRequest>(line("manage", R"({"vm":"web1"})")).vm, "web1");
  WhatIfRequest what_if;
  what_if.add = {{8, 1024, std::nullopt, 100}, {2, 512, 70, 50}};
  what_if.remove = {"web1", "web2"};
  what_if.move = {{"db1", {1}, std::nullopt}};
  what_if.options = {{"Numa.MigThreshold", 5}};
  EXPECT_EQ(
      parsed<WhatIfRequest>(line(
          "what-if", R"({"add":[{"vcpus":8,"memory_bytes":1024},{"vcpus":2,"memory_bytes":512,)"
                     R"("load_pct":70,"weight":50}],"remove":["web1","web2"],)"
                     R"("move":[{"vm":"db1","node":1}],)"
                     R"("options":[{"name":"Numa.MigThreshold","value":5}]})")),
      what_if);
  EXPECT_EQ(parsed<AnnounceRequest>(
                line("announce", R"({"vm":"web1","vm_uuid":"u","vcpus":4,"memory_mib":2048})")),
            (AnnounceRequest{"web1", "u", 4, 2048}));
  AnnounceRequest announced{"web1", "u", 4, 2048};
  announced.asks = false;
  announced.policy = {{"nodes", "0"}, {"x", std::nullopt}};
  announced.devices = {{"0000:3b:00.0", {1}}};
  announced.disks = {{"mapper/vg-root", {1}}};
  announced.numatune = {{NumatuneMode::kStrict, {{0}, {1}}}};
  announced.cells = {{{0, 1}, 1024}, {{2, 3}, 1024}};
  announced.cells[1].numatune = {{NumatuneMode::kNone, {}}};
  announced.huge_page_kib = 2048;
  announced.huge_pages = {{{1}, 5, 9}};
  announced.waits_s = 30;
  EXPECT_EQ(
      parsed<AnnounceRequest>(line(
          "announce",
          R"({"vm":"web1","vm_uuid":"u","vcpus":4,"memory_mib":2048,"asks":false,)"
          R"("policy":[{"key":"nodes","value":"0"},{"key":"x"}],)"
          R"("devices":[{"address":"0000:3b:00.0","node":1}],)"
          R"("disks":[{"name":"mapper/vg-root","node":1}],)"
          R"("numatune":[{"mode":"strict","nodes":[0,1]}],"cells":[{"vcpus":[0,1],"memory_mib":1024},)"
          R"({"vcpus":[2,3],"memory_mib":1024,"numatune":[{"mode":"none","nodes":[]}]}],)"
          R"("huge_page_kib":2048,)"
          R"("huge_pages":[{"node":1,"free":5,"total":9}],"waits_s":30})")),
      announced);
  EXPECT_EQ(parsed<WithdrawRequest>(line("withdraw", R"({"vm_uuid":"u"})")).vm_uuid, "u");
  EXPECT_EQ(parsed<SuggestRequest>(line("suggest", R"({"vcpus":4,"memory_mib":2048})")),
            (SuggestRequest{4, 2048}));
  EXPECT_EQ(parsed<SuggestRequest>(line("suggest", R"({"vcpus":4})")), (SuggestRequest{4, 0}));
  EXPECT_EQ(parsed<PolicyRequest>(line("policy", R"({"vm":"web1"})")).vm, "web1");
  EXPECT_EQ(
      parsed<SetRequest>(line("set", R"({"vm":"web1","settings":[{"key":"nodes","value":"0"},)"
                                     R"({"key":"prefer_ht"}],"persistent":true})")),
      (SetRequest{"web1", {{"nodes", "0"}, {"prefer_ht", std::nullopt}}, true}));
}

TEST(RequestTest, OptionalArgumentsHaveDefaults) {
  EXPECT_EQ(parsed<HistoryRequest>(line("history", "{}")), HistoryRequest{});
  EXPECT_FALSE(
      parsed<OptionsSetRequest>(line("options-set", R"({"name":"N","value":-1})")).persist);
  EXPECT_EQ(parsed<MoveRequest>(line("move", R"({"vm":"w","node":0})")).client, std::nullopt);
  EXPECT_EQ(parsed<ReleaseRequest>(line("release", R"({"vm":null})")).vm, std::nullopt);
}

TEST(RequestTest, AnUnknownLevelIsToldWhichThereAre) {
  const auto request = parse_request(line("events", R"({"level":"bad"})"));
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().error.message,
            "the argument 'level' must be debug, info, notice, warning or error");
}

TEST(RequestTest, ArgumentsAndIdMayBeLeftOut) {
  const auto request = parse_request(R"({"version":1,"command":"status"})"
                                     "\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id, 0);
}

TEST(RequestTest, EncodedRequestsReadBackTheSame) {
  HistoryRequest history;
  history.limit = 1000;
  history.since_unix_s = 0;
  history.vm = "größe \"x\"\n\\";
  history.node = NodeId{0};
  history.reason = "administrator";
  const std::vector<Command> commands{
      StatusRequest{},
      StatsRequest{"numa-clients"},
      ExplainRequest{"web1"},
      EventsRequest{},
      EventsRequest{7, 9, 0, "web1", Severity::kWarning},
      SimStepRequest{-3},
      HistoryRequest{},
      history,
      PlanRequest{},
      PauseRequest{},
      ResumeRequest{},
      OptionsListRequest{},
      ConfigRequest{},
      OptionsGetRequest{"Numa.X"},
      OptionsSetRequest{"Numa.X", -9, true},
      MoveRequest{"web1", {63}, 1},
      PolicyRequest{"web1"},
      SetRequest{"web1", {{"nodes", "0"}, {"x", std::nullopt}}, true},
      MoveRequest{"web1", {0}, std::nullopt},
      MoveTogetherRequest{{{"web1", 0, {0}, {1}}, {"web2", 1, {1}, {0}}}},
      ReleaseRequest{"web1"},
      ReleaseRequest{},
      ManageRequest{"web1"},
      ManageRequest{},
      RecordStartRequest{},
      RecordStartRequest{true, 100},
      RecordNextRequest{7},
      RecordStopRequest{7},
      WhatIfRequest{},
      WhatIfRequest{{{8, 1024, 30, 7}, {1, 1, std::nullopt, 100}},
                    {"a", "b"},
                    {{"c", {2}, 1}, {"d", {0}, std::nullopt}},
                    {{"Numa.X", -1}}},
      AnnounceRequest{"web1", "u", 4, 2048},
      WithdrawRequest{"u"},
      SuggestRequest{4, 2048},
      HostRequest{},
      MemoryRequest{},
      StateRequest{},
      SimStartRequest{"guest", 8, 4096, 95},
      SimStopRequest{"guest"},
      SimLoadRequest{"guest", 0}};
  std::int64_t id = -3;
  for (const Command& command : commands) {
    const Request request{++id, command};
    const std::string text = encode_request(request);
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    const auto again = parse_request(text);
    ASSERT_TRUE(again) << text << again.error().error.message;
    EXPECT_EQ(*again, request);
  }
}

TEST(RequestTest, UnknownCommandNamesTheNearest) {
  const auto request = parse_request(line("explian", "{}"));
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().error.code, ErrorCode::kNotFound);
  EXPECT_EQ(request.error().error.message,
            "there is no command 'explian'; did you mean 'explain'?");
  EXPECT_EQ(request.error().id, 7);
  EXPECT_EQ(refusal(line("frobnicate", "{}")), "there is no command 'frobnicate'");
}

TEST(RequestTest, UnknownArgumentNamesTheNearest) {
  EXPECT_EQ(refusal(line("history", R"({"limits":3})")),
            "the command 'history' has no argument 'limits'; did you mean 'limit'?");
  EXPECT_EQ(refusal(line("status", R"({"verbose":true})")),
            "the command 'status' has no argument 'verbose'");
}

TEST(RequestTest, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal(R"({"version":1,"comand":"status","command":"status"})"),
            "a request has no 'comand'; did you mean 'command'?");
}

TEST(RequestTest, MissingArgumentIsNamed) {
  EXPECT_EQ(refusal(line("explain", "{}")), "the command 'explain' needs the argument 'vm'");
  EXPECT_EQ(refusal(line("options-set", R"({"name":"N"})")),
            "the command 'options-set' needs the argument 'value'");
  EXPECT_EQ(refusal(line("move", R"({"vm":"web1","node":null})")),
            "the command 'move' needs the argument 'node'");
}

TEST(RequestTest, WrongKindOfArgumentIsNamed) {
  EXPECT_EQ(refusal(line("explain", R"({"vm":1})")),
            "the argument 'vm' must be a string that is not empty");
  EXPECT_EQ(refusal(line("explain", R"({"vm":""})")),
            "the argument 'vm' must be a string that is not empty");
  EXPECT_EQ(refusal(line("options-set", R"({"name":"N","value":"1"})")),
            "the argument 'value' must be an integer");
  EXPECT_EQ(refusal(line("options-set", R"({"name":"N","value":1.0})")),
            "the argument 'value' must be an integer");
  EXPECT_EQ(refusal(line("options-set", R"({"name":"N","value":9223372036854775808})")),
            "the argument 'value' must be an integer");
  EXPECT_EQ(refusal(line("options-set", R"({"name":"N","value":1,"persist":1})")),
            "the argument 'persist' must be true or false");
  EXPECT_EQ(refusal(line("move", R"({"vm":"w","node":-1})")),
            "the argument 'node' must be an integer from 0 up");
  EXPECT_EQ(refusal(line("move", R"({"vm":"w","node":4294967296})")),
            "the argument 'node' must be an integer from 0 up");
  EXPECT_EQ(
      refusal(line("history", R"({"since":"yesterday"})")),
      "the argument 'since' is 'yesterday', but must be a time such as '2025-01-31T12:00:00Z'");
}

TEST(RequestTest, WhatIsWrongInAListIsNamed) {
  EXPECT_EQ(refusal(line("what-if", R"({"remove":"web1"})")),
            "the argument 'remove' must be a list of at most 64");
  EXPECT_EQ(refusal(line("what-if", R"({"remove":[1]})")),
            "the argument 'remove' must be a string that is not empty");
  EXPECT_EQ(refusal(line("what-if", R"({"add":[3]})")),
            "the argument 'add' must be a list of objects");
  EXPECT_EQ(refusal(line("what-if", R"({"add":[{"vcpus":1}]})")),
            "the command 'what-if' needs the argument 'memory_bytes'");
  EXPECT_EQ(refusal(line("what-if", R"({"move":[{"vm":"a","node":1,"nodes":2}]})")),
            "the command 'what-if' has no argument 'nodes'; did you mean 'node'?");
  std::string many = "[";
  for (int i = 0; i < 65; ++i) {
    many += std::string(i == 0 ? "" : ",") + "\"x\"";
  }
  EXPECT_EQ(refusal(line("what-if", R"({"remove":)" + many + "]}")),
            "the argument 'remove' must be a list of at most 64");
}

TEST(RequestTest, HistoryLimitHasARange) {
  EXPECT_EQ(refusal(line("history", R"({"limit":0})")),
            "the argument 'limit' is 0, but must be a number from 1 to 1000");
  EXPECT_EQ(refusal(line("history", R"({"limit":1001})")),
            "the argument 'limit' is 1001, but must be a number from 1 to 1000");
}

TEST(RequestTest, WhatIsNoRequestIsRefused) {
  for (const char* text :
       {"", " ", "x", "{", "[]", "1", "\"status\"", "null", "{}}", "{\"version\":1",
        "{'version':1}", "\xff\xfe", "{\"version\":1,\"command\":\"\xc3\x28\"}"}) {
    EXPECT_EQ(refusal(text), "the request is not a JSON object") << text;
  }
  EXPECT_EQ(refusal("{}"), "the request has no 'version'");
  EXPECT_EQ(refusal(R"({"version":"1","command":"status"})"), "the request has no 'version'");
  EXPECT_EQ(refusal(R"({"version":1})"), "the request has no 'command'");
  EXPECT_EQ(refusal(R"({"version":1,"command":7})"), "the request has no 'command'");
  EXPECT_EQ(refusal(line("status", "[]")), "'args' must be an object");
}

TEST(RequestTest, TwoRequestsInOneLineAreRefused) {
  EXPECT_EQ(refusal(line("status", "{}") + line("status", "{}")),
            "the request is not a JSON object");
}

TEST(RequestTest, OtherVersionIsUnsupported) {
  const auto request = parse_request(R"({"version":2,"id":9,"command":"status"})");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(request.error().error.message,
            "the request is of version 2, but only version 1 is supported here");
  EXPECT_EQ(request.error().id, 9);
}

TEST(RequestTest, IdThatIsNoIntegerIsRefused) {
  const auto request = parse_request(R"({"version":1,"id":"a","command":"status"})");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().id, std::nullopt);
  EXPECT_EQ(request.error().error.message, "'id' must be an integer");
}

TEST(RequestTest, TooLongALineIsRefusedBeforeItIsParsed) {
  std::string text = line("explain", R"({"vm":"web1"})");
  text.append(kLongestRequest - text.size(), ' ');
  EXPECT_EQ(refusal(text), "accepted");
  EXPECT_EQ(refusal(text + "\n"), "accepted");
  EXPECT_EQ(refusal(text + " "), "the request is longer than 65536 bytes");
}

TEST(RequestTest, HasNoMoreValuesThanCanBeReadAtOnce) {
  std::string text = "{\"version\":1,\"command\":\"what-if\",\"args\":{\"remove\":[0";
  for (std::size_t i = 6; i < kMostValues; ++i) {  // 1, two commas and three brackets
    text += ",0";
  }
  EXPECT_EQ(refusal(text + "]}}"), "the argument 'remove' must be a list of at most 64");
  EXPECT_EQ(refusal(text + ",0]}}"), "the request has more than 8192 values");
}

TEST(RequestTest, TooDeepALineIsRefusedBeforeItIsParsed) {
  EXPECT_EQ(refusal(std::string(1000, '[')), "the request is nested more than 8 deep");
  EXPECT_EQ(refusal(std::string(30000, '{')), "the request is nested more than 8 deep");
  EXPECT_EQ(refusal(line("status", R"({"a":[[[[[[1]]]]]]})")),
            "the command 'status' has no argument 'a'");
  EXPECT_EQ(refusal(line("status", R"({"a":[[[[[[[1]]]]]]]})")),
            "the request is nested more than 8 deep");
}

TEST(RequestTest, BracketsInsideStringsAreNoNesting) {
  EXPECT_EQ(parsed<ExplainRequest>(line("explain", R"({"vm":"[[[[[[[[[\"{{{{{{{{{"})")).vm,
            "[[[[[[[[[\"{{{{{{{{{");
}

TEST(RequestTest, ManyKeysAreHandledQuickly) {
  std::string args = "{";
  for (int i = 0; args.size() < 60000; ++i) {
    args += "\"" + std::to_string(i) + "\":1,";
  }
  args.back() = '}';
  EXPECT_THAT(refusal(line("status", args)), HasSubstr("the command 'status' has no argument"));
}

TEST(RequestTest, ListsEveryCommand) {
  EXPECT_THAT(
      command_names(),
      ElementsAre("status", "stats", "explain", "history", "plan", "pause", "resume",
                  "options-list", "options-get", "options-set", "move", "move-together", "release",
                  "manage", "what-if", "record-start", "record-next", "record-stop", "announce",
                  "withdraw", "suggest", "host", "policy", "set", "state", "memory", "events",
                  "reserve", "unreserve", "reservations", "reservation-history", "config",
                  "sim-start", "sim-stop", "sim-load", "sim-step"));
}

TEST(PermissionTest, ReadingIsForEveryUserWhoConnects) {
  for (const Command& command :
       {Command(StatusRequest{}), Command(HostRequest{}), Command(StatsRequest{}),
        Command(ExplainRequest{}), Command(HistoryRequest{}), Command(PlanRequest{}),
        Command(OptionsListRequest{}), Command(OptionsGetRequest{}), Command(WhatIfRequest{}),
        Command(PolicyRequest{}), Command(StateRequest{}), Command(MemoryRequest{}),
        Command(EventsRequest{}), Command(ReservationsRequest{}),
        Command(ReservationHistoryRequest{}), Command(ConfigRequest{})}) {
    EXPECT_FALSE(changes_something(command)) << name_of(command);
    EXPECT_TRUE(is_permitted(command, 1000, 990)) << name_of(command);
  }
}

TEST(PermissionTest, ChangingIsForRootAndTheDaemonItself) {
  for (const Command& command :
       {Command(PauseRequest{}), Command(ResumeRequest{}), Command(OptionsSetRequest{}),
        Command(MoveRequest{}), Command(MoveTogetherRequest{}), Command(ReleaseRequest{}),
        Command(ManageRequest{}), Command(SetRequest{}), Command(ReserveRequest{}),
        Command(UnreserveRequest{}), Command(SimStartRequest{}), Command(SimStopRequest{}),
        Command(SimLoadRequest{}), Command(SimStepRequest{})}) {
    EXPECT_TRUE(changes_something(command)) << name_of(command);
    EXPECT_FALSE(is_permitted(command, 1000, 990)) << name_of(command);
    EXPECT_TRUE(is_permitted(command, 0, 990)) << name_of(command);
    EXPECT_TRUE(is_permitted(command, 990, 990)) << name_of(command);
  }
}

}  // namespace
}  // namespace vmnuma::balancer
