// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/response.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/views.h"

namespace vmnuma::balancer {
namespace {

using ::testing::HasSubstr;

/// Out through the daemon's end and in through a program's.
template <class View>
Result<View> through_the_socket(const View& view) {
  const std::string line = encode_response(7, Answer(view));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto response = parse_response(line, 7);
  if (!response || !response->result) {
    return tl::unexpected(response ? response->result.error() : response.error());
  }
  return decode_view<View>(*response->result);
}

template <class View>
void expect_unchanged(const View& view) {
  const auto again = through_the_socket(view);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, view);
}

TEST(ResponseTest, ViewsComeThroughUnchanged) {
  expect_unchanged(tests::status_view());
  expect_unchanged(tests::host_view());
  expect_unchanged(tests::report());
  expect_unchanged(tests::explain_view());
  expect_unchanged(tests::history_view());
  expect_unchanged(tests::plan_view());
  expect_unchanged(tests::options_view());
  expect_unchanged(tests::options_view().options.front());
  expect_unchanged(tests::what_if_view());
  expect_unchanged(tests::policy_view());
  expect_unchanged(tests::memory_view());
  expect_unchanged(StateView{"{\"frame\":{}}\n"});
  expect_unchanged(balancer::AnnouncedView{"VM 'web1' waits", 1000, 30'000});
  expect_unchanged(SuggestView{"web1", "c7a5fdbd-edaf-9455-926a-d65c16db1809", {{1}, {3}}});
  expect_unchanged(DoneView{"client 0 of 'web1' moves to node 1", 12});
}

TEST(ResponseTest, AHostWithNothingToBalanceComesThroughUnchanged) {
  StatusView view = tests::status_view();
  view.nothing_to_balance = "nothing to balance: only node 0 has CPUs";
  expect_unchanged(view);
}

TEST(ResponseTest, TheTimeOfARecordingComesThroughUnchanged) {
  StatusView view = tests::status_view();
  view.recorded_unix_s = tests::kNoonUnixS;
  expect_unchanged(view);
}

TEST(ResponseTest, AVmsDevicesComeThroughUnchanged) {
  ExplainView view = tests::explain_view();
  view.devices = {
      {"PCI device", "0000:3b:00.0", {1}, {{{57, 58}, "vfio-msix[0]", "2-3", {0}}}, "move them"},
      {"disk", "mapper/vg-root", {-1}, {}, ""}};
  expect_unchanged(view);
}

TEST(ResponseTest, EmptyViewsComeThroughUnchanged) {
  expect_unchanged(StatusView{});
  expect_unchanged(HostView{});
  expect_unchanged(ExplainView{});
  expect_unchanged(HistoryView{});
  expect_unchanged(EventsView{});
  expect_unchanged(EventsView{
      {{7, 1738324800, Severity::kWarning, "it is odd", {"a", "b"}, 3, "load-move"}}, 9, true});
  expect_unchanged(PlanView{});
  expect_unchanged(OptionsView{});
  expect_unchanged(ConfigView{{{"vm.a \"b\".nodes", "0-1", Origin::kFile}}, {"odd"}});
  expect_unchanged(OptionView{});
  expect_unchanged(WhatIfView{});
  expect_unchanged(PolicyView{});
  expect_unchanged(MemoryView{});
  expect_unchanged(ReservationsView{});
  expect_unchanged(
      ReservationsView{{{"x",
                         "db 1",
                         "",
                         "db",
                         8,
                         {{1}, {2}},
                         {{{1}, 2097152, 4194304}},
                         1738324800,
                         {"u"},
                         "shop",
                         true,
                         {{"web1", "u", 2, {{{1}, 0, 4096}}}}},
                        {"y", "", "u", "", 0, {}, {{{3}, 0, 4194304}}, std::nullopt, {}}}});
  expect_unchanged(ReservationHistoryView{
      {{1738324800, "web", "taken-up", "web1", "u", 4096, "VM 'web1' takes up 4096"}}, true});
  expect_unchanged(DoneView{});
}

TEST(ResponseTest, StatusHasTheDocumentedForm) {
  StatusView view;
  view.mode = Mode::kDegraded;
  view.configured_mode = Mode::kActive;
  view.degraded = {{"libvirt", "no connection", 1738324800}};
  view.notices = {"'options.toml' was set aside"};
  view.version = "0.1.0";
  view.uri = "qemu:///system";
  view.host_name = "kvm7";
  view.epoch = 5;
  view.epoch_length_ms = 2000;
  view.history = {"/var/lib/vmnuma/history.sqlite", "ok"};
  EXPECT_EQ(
      encode_response(3, Answer(view)),
      R"({"version":1,"id":3,"ok":true,"result":{"mode":"degraded","configured_mode":"active",)"
      R"("degraded":[{"source":"libvirt","reason":"no connection","since":"2025-01-31T12:00:00Z"}],)"
      R"("nothing_to_balance":"",)"
      R"("notices":["'options.toml' was set aside"],)"
      R"("version":"0.1.0","uri":"qemu:///system","host_name":"kvm7","recorded":null,"epoch":5,"epoch_length_ms":2000,)"
      R"("breaker_epochs_left":0,"late_ms":null,"late_most_ms":null,)"
      R"("imbalance_pct":null,"lost_ms":null,"nodes":0,"vms":null,"clients":null,"open_actions":0,)"
      R"("largest_vm":{"node":null,"vcpus":null,"memory_bytes":null,"room_bytes":null,"huge_pages":[]},"reservations":0,)"
      R"("kernel_numa_balancing":null,"sched_ext":null,"cache_scheduling":"none","isolated_cpus":[],"wants_wakeups":false,"wakeup_pairs":null,)"
      R"("forecasts":{"trained":0,"histogram":0,"last_maximum":0},"transfers":[],"refused_policies":[],)"
      R"("admission":"","not_admitted":[],"history":{"path":"/var/lib/vmnuma/history.sqlite","state":"ok"}}})"
      "\n");
}

TEST(ResponseTest, NoNodeAndNoFigureAreNull) {
  HistoryView view;
  view.moves.emplace_back();
  const std::string line = encode_response(3, Answer(view));
  EXPECT_THAT(line, HasSubstr(R"("from":null)"));
  EXPECT_THAT(line, HasSubstr(R"("locality_before_pct":null)"));
  EXPECT_THAT(line, HasSubstr(R"("outcome":null)"));
}

TEST(ResponseTest, RejectionHasItsVmNextToTheOtherFields) {
  PlanView view;
  view.rejections.push_back({"web1", {}});
  EXPECT_THAT(encode_response(3, Answer(view)),
              HasSubstr(R"("rejections":[{"vm":"web1","action":"","client":0,)"));
}

TEST(ResponseTest, ReportHasTheDocumentedForm) {
  EXPECT_EQ(encode_response(7, Answer(tests::report())),
            R"({"version":1,"id":7,"ok":true,"result":{"type":"numa-clients",)"
            R"("columns":["groupName","groupID","homeNode"],"rows":[)"
            R"({"groupName":"vm.4711","groupID":13424,"homeNode":0,"vmName":"web1"},)"
            R"({"groupName":"vm.4712","groupID":16408,"homeNode":-1,"vmName":"db 7"}]}})"
            "\n");
}

TEST(ResponseTest, ACellWithoutAValueIsNull) {
  stats::Report report = tests::report();
  report.rows[1][2] = stats::NoValue{};
  EXPECT_THAT(encode_response(7, Answer(report)), HasSubstr(R"("homeNode":null,)"));
  expect_unchanged(report);
}

TEST(ResponseTest, ReportWithoutRowsIsOne) {
  stats::Report report;
  report.type = "numa-pnode";
  report.columns = {"nodeID"};
  expect_unchanged(report);
}

TEST(ResponseTest, ReportsThatAreNoneAreCorrupt) {
  for (const char* result :
       {"[]", "{}", R"({"type":1,"columns":[],"rows":[]})",
        R"({"type":"t","columns":{},"rows":[]})", R"({"type":"t","columns":[1],"rows":[]})",
        R"({"type":"t","columns":["a"]})", R"({"type":"t","columns":["a"],"rows":{}})",
        R"({"type":"t","columns":["a"],"rows":[1]})",
        R"({"type":"t","columns":["a"],"rows":[{"b":1}]})",
        R"({"type":"t","columns":["a"],"rows":[{"a":1.5}]})",
        R"({"type":"t","columns":["a"],"rows":[{"a":[]}]})",
        R"({"type":"t","columns":["a"],"rows":[{"a":18446744073709551615}]})",
        R"({"type":"t","columns":["a"],"rows":[{"a":1,"b":2},{"a":1}]})"}) {
    const auto report = decode_view<stats::Report>(result);
    ASSERT_FALSE(report) << result;
    EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ResponseTest, BytesThatAreNoTextAreReplaced) {
  DoneView view{"VM '\xff\xfe' is released\n", std::nullopt};
  const auto again = through_the_socket(view);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->message, "VM '\xef\xbf\xbd\xef\xbf\xbd' is released\n");
}

TEST(ResponseTest, ErrorsComeThroughAsThemselves) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotFound, ErrorCode::kVanished,
        ErrorCode::kPermissionDenied, ErrorCode::kUnavailable, ErrorCode::kBusy,
        ErrorCode::kNoSpace, ErrorCode::kUnsupported, ErrorCode::kCorrupt, ErrorCode::kIo}) {
    const Result<Answer> answer = failure(code, "there is no VM 'web1'", 2);
    const auto again = parse_response(encode_response(7, answer), 7);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_FALSE(again->result);
    EXPECT_EQ(again->result.error().code, code);
    EXPECT_EQ(again->result.error().message, "there is no VM 'web1'");
  }
}

TEST(ResponseTest, ErrorHasTheDocumentedForm) {
  const Result<Answer> answer = failure(ErrorCode::kNotFound, "there is no VM 'web1'");
  EXPECT_EQ(encode_response(7, answer),
            R"({"version":1,"id":7,"ok":false,"error":{"code":"not-found",)"
            R"("message":"there is no VM 'web1'"}})"
            "\n");
}

TEST(ResponseTest, BadRequestIsAnsweredWithItsIdOrWithNull) {
  const auto with_id = parse_request(R"({"version":1,"id":5,"command":"x"})");
  ASSERT_FALSE(with_id);
  EXPECT_THAT(encode_response(with_id.error()), HasSubstr(R"("id":5,"ok":false)"));
  const auto without = parse_request("{");
  ASSERT_FALSE(without);
  const std::string line = encode_response(without.error());
  EXPECT_THAT(line, HasSubstr(R"("id":null,"ok":false)"));
  const auto response = parse_response(line, 7);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->result.error().message, "the request is not a JSON object");
}

TEST(ResponseTest, AnswersThatAreNoneAreCorrupt) {
  for (const char* line :
       {"", "x", "[]", R"({"version":1,"id":7})", R"({"version":1,"id":7,"ok":1,"result":{}})",
        R"({"version":1,"id":8,"ok":true,"result":{}})", R"({"version":1,"ok":true,"result":{}})",
        R"({"version":1,"id":null,"ok":true,"result":{}})", R"({"version":1,"id":7,"ok":true})",
        R"({"version":1,"id":7,"ok":false})", R"({"version":1,"id":7,"ok":false,"error":"x"})"}) {
    const auto result = parse_response(line, 7);
    ASSERT_FALSE(result) << line;
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt) << line;
  }
}

TEST(ResponseTest, AnswerOfAnotherVersionIsUnsupported) {
  for (const char* line :
       {R"({"id":7,"ok":true,"result":{}})", R"({"version":2,"id":7,"ok":true})"}) {
    const auto result = parse_response(line, 7);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  }
}

TEST(ResponseTest, UnknownErrorCodeIsStillAnError) {
  const auto result =
      parse_response(R"({"version":1,"id":7,"ok":false,"error":{"code":"new","message":"m"}})", 7);
  ASSERT_TRUE(result);
  ASSERT_FALSE(result->result);
  EXPECT_EQ(result->result.error().code, ErrorCode::kIo);
  EXPECT_EQ(result->result.error().message, "m");
}

TEST(ResponseTest, FieldsOfAnotherVersionAreSkippedAndMissingOnesKeepTheirDefault) {
  const auto view = decode_view<DoneView>(R"({"message":"done","colour":"blue"})");
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(*view, (DoneView{"done", std::nullopt}));
}

TEST(ResponseTest, FieldsOfTheWrongKindAreCorrupt) {
  EXPECT_EQ(decode_view<DoneView>(R"({"message":1})").error().message,
            "the daemon's answer cannot be read: 'message' is not what it should be");
  for (const char* result :
       {R"([])", R"({"mode":"asleep"})", R"({"mode":1})", R"({"epoch":"1"})", R"({"epoch":1.5})",
        R"({"epoch":18446744073709551615})", R"({"transfers":{}})", R"({"transfers":[1]})",
        R"({"transfers":[{"client":4294967296}]})", R"({"degraded":[{"since":"now"}]})",
        R"({"history":3})"}) {
    const auto view = decode_view<StatusView>(result);
    ASSERT_FALSE(view) << result;
    EXPECT_EQ(view.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace vmnuma::balancer
