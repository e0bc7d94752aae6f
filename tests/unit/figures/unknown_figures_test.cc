// SPDX-License-Identifier: Apache-2.0
// What is not known is never shown as 0: a dash in text, null in JSON, a gap in a plot, no sample
// among the metrics. Views in which whatever may be absent is absent go through everything that
// shows them. new_host_figures_test.cc does the same with a host that was just started.
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/response.h"
#include "stats/reports/tables.h"
#include "tests/support/time_zone.h"
#include "tests/support/unknown_views.h"
#include "tools/exporter/metric_table.h"
#include "tools/exporter/metrics.h"
#include "tools/exporter/past.h"
#include "tools/vmnuma/arguments/report_shape.h"
#include "tools/vmnuma/export/documents.h"
#include "tools/vmnuma/report/host_report.h"
#include "tools/vmnuma/text/view_text.h"
#include "tools/vmnuma/top/top_frame.h"

namespace vmnuma::tools {
namespace {

using balancer::HostView;
using balancer::StatusView;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// The lines in which a figure is 0: "0", "0.0", "0%", but not "10", "0x3" or "12:00".
std::vector<std::string> lines_with_zero(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto is_part = [&](std::size_t at) {
        return at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) != 0 ||
                                    line[at] == '.' || line[at] == '/');
      };
      std::size_t after = i + 1;
      if (line.compare(i, 3, "0.0") == 0) {
        after = i + 3;
      }
      if (line[i] == '0' && !(i > 0 && is_part(i - 1)) && !is_part(after)) {
        found.push_back(line);
        break;
      }
    }
  }
  return found;
}

class UnknownFiguresTest : public ::testing::Test {
 private:
  tests::TimeZone zone_{"UTC"};
};

TEST_F(UnknownFiguresTest, ZerosAreFound) {
  EXPECT_THAT(lines_with_zero("a 0 ms\nb 10 ms\nc 0%\nd 0.0 %\ne 0x3\nf 12:00\ng 0 B,\n"),
              ::testing::ElementsAre("a 0 ms", "c 0%", "d 0.0 %", "g 0 B,"));
}

/// As the daemon's JSON, every field that may be absent is null.
template <class View>
void expect_nulls() {
  const View view = tests::unknown<View>();
  const std::string line = balancer::encode_response(7, balancer::Answer(view));
  const json result = json::parse(line).at("result");
  std::vector<std::string> zeros;
  const auto look = [&](const auto& self, const json& value, const std::string& path) -> void {
    if (value.is_structured()) {
      for (const auto& [name, part] : value.items()) {
        self(self, part, path + "/" + name);
      }
    } else if (value.is_number() && value == 0) {
      zeros.push_back(path);
    }
  };
  look(look, result, "");
  EXPECT_THAT(zeros, IsEmpty());
  const auto again = balancer::decode_view<View>(result.dump());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, view);
}

TEST_F(UnknownFiguresTest, JsonHasNull) {
  expect_nulls<StatusView>();
  expect_nulls<HostView>();
  expect_nulls<balancer::ExplainView>();
  expect_nulls<balancer::HistoryView>();
  expect_nulls<balancer::EventsView>();
  expect_nulls<balancer::PlanView>();
  expect_nulls<balancer::WhatIfView>();
  expect_nulls<balancer::MemoryView>();
  expect_nulls<balancer::ReservationsView>();
  expect_nulls<balancer::PolicyView>();
  expect_nulls<balancer::OptionsView>();
  expect_nulls<balancer::DoneView>();
}

TEST_F(UnknownFiguresTest, TextHasDashes) {
  for (const std::string& text :
       {text_of(tests::unknown<StatusView>()), text_of(tests::unknown<balancer::ExplainView>()),
        text_of(tests::unknown<balancer::HistoryView>()),
        text_of(tests::unknown<balancer::EventsView>()),
        text_of(tests::unknown<balancer::PlanView>()),
        text_of(tests::unknown<balancer::WhatIfView>()),
        text_of(tests::unknown<balancer::MemoryView>()),
        text_of(tests::unknown<balancer::ReservationsView>()),
        text_of(tests::unknown<balancer::PolicyView>()),
        text_of(tests::unknown<balancer::OptionsView>()),
        text_of(tests::unknown<balancer::DoneView>())}) {
    EXPECT_THAT(lines_with_zero(text), IsEmpty()) << text;
  }
}

TEST_F(UnknownFiguresTest, AnOutcomeWithoutLocalityInventsNone) {
  auto view = tests::unknown<balancer::HistoryView>();
  tests::UnknownFields fields;
  visit_fields(fields, view.moves.front().outcome.emplace());
  view.moves.front().outcome->lost_before_ms = 9;  // 2 of them were saved
  EXPECT_THAT(lines_with_zero(text_of(view)), IsEmpty());
  EXPECT_THAT(text_of(view), HasSubstr("-/2"));
}

TEST_F(UnknownFiguresTest, TopHasDashes) {
  const TopHost host = top_host(tests::unknown<StatusView>(), tests::unknown<HostView>());
  EXPECT_THAT(lines_with_zero(top_text(host)), IsEmpty()) << top_text(host);
  const std::string frame = plain_text(top_frame({host, "", std::nullopt}, {}, {24, 132}));
  EXPECT_THAT(lines_with_zero(frame), IsEmpty()) << frame;
}

Reading reading_of(StatusView status, HostView host) {
  Reading reading;
  reading.views = Views{std::move(status), std::move(host), "{}", "{}", "null"};
  reading.time_unix_ms = tests::kSomeUnixS * 1000;
  reading.took = std::chrono::microseconds(1500);
  reading.failures = 7;
  return reading;
}

/// Samples that are 0 though they do not say which of several things is so.
std::vector<std::string> zero_samples(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : lines_with_zero(text)) {
    const bool is_choice = line.starts_with("vmnuma_mode{") ||
                           line.starts_with("vmnuma_transfers{") ||
                           line.starts_with("vmnuma_history_writable");
    if (!line.starts_with('#') && !is_choice) {
      found.push_back(line);
    }
  }
  return found;
}

TEST_F(UnknownFiguresTest, MetricsHaveNoSample) {
  const std::string text =
      metrics_text(reading_of(tests::unknown<StatusView>(), tests::unknown<HostView>()));
  EXPECT_THAT(zero_samples(text), IsEmpty());
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST_F(UnknownFiguresTest, PlotsHaveGaps) {
  Past past;
  past.add(reading_of(tests::unknown<StatusView>(), tests::unknown<HostView>()));
  const json columns = json::parse(past.json());
  for (const char* name : {"imbalance", "lost"}) {
    EXPECT_EQ(columns.at(name), json::array({nullptr})) << name;
  }
  for (const char* name : {"load", "others", "owed", "locality", "free"}) {
    EXPECT_EQ(columns.at(name), json::array({json::array({nullptr})})) << name;
  }
}

TEST_F(UnknownFiguresTest, TheReportInventsNothing) {
  HostReport report;
  report.host_name = "host";
  report.since_unix_s = tests::kSomeUnixS - 3600;
  report.until_unix_s = tests::kSomeUnixS;
  report.host = tests::unknown<HostView>();
  // A node without CPUs, a moment without known memory, and an action of which nothing is promised.
  stats::Kept<stats::NodeSampleRow> sample;
  sample.row.node = {7};
  report.past.nodes = {sample};
  report.past.locality = {{}};
  report.past.vms = {{"word", "word", {}}};
  stats::PastAction action;
  action.action.reason = "cpu-assignment";
  action.action.relocations = {{{}, "word", 7, {7}, {7}, {}}};
  action.state = stats::ActionState::kDone;
  report.past.actions = {action};
  const std::string text = report_text(report);
  EXPECT_THAT(text, HasSubstr("   7        -           -          -        -\n"));
  EXPECT_THAT(text,
              HasSubstr("cpu-assignment     1       0        0     0             -            -"));
  EXPECT_THAT(text, Not(HasSubstr("Local memory")));
  const json figures = json::parse(report_json(report));
  for (const char* name :
       {"vm_load_permille", "highest_vm_load_permille", "non_vm_permille", "owed_permille"}) {
    EXPECT_TRUE(figures.at("nodes").at(0).at(name).is_null()) << name;
  }
  EXPECT_TRUE(figures.at("reasons").at(0).at("promised_ms").is_null());
  EXPECT_TRUE(figures.at("vms").at(0).at("cpu_some_permille").is_null());
  EXPECT_THAT(report_html(report), Not(HasSubstr("0 % local")));
  EXPECT_THAT(report_html(report), Not(HasSubstr("0 to 0 ms")));
}

TEST_F(UnknownFiguresTest, DocumentsOfferNothing) {
  const ExportedHost exported{"host", tests::unknown<HostView>()};
  const json zone =
      json::parse(node_resource_topology(exported, JsonLayout::kOneLine)).at("zones").at(0);
  EXPECT_EQ(zone.at("attributes"), json::array());
  EXPECT_EQ(zone.at("resources").at(1).at("available"), "0");
}

/// Every table of the tables, of rows that know nothing.
std::vector<stats::Report> unknown_tables() {
  const stats::ClientKey key{"vm.7", 7, 7, "word", "word"};
  const std::vector<stats::PnodeRow> nodes{{.node = 7}};
  const std::vector<stats::ClientRow> clients{{.key = key, .affinity = "0x3", .vmm_worlds = 7}};
  const std::vector<stats::MigrationRow> migrations{{key, {7, 7, 7, 7, 7, 7}}};
  const std::vector<stats::CnodeRow> stays{{.key = key, .node = 7, .time = 7, .memory_moves = 1}};
  const std::vector<stats::LatencyRow> latencies{
      {.cpu_node = 7, .memory_node = 7, .slit = 17, .state = "busy"}};
  const std::vector<stats::GlobalRow> globals{{"remoteMemory", std::nullopt}};
  return {stats::pnode_table(nodes),          stats::client_table(clients),
          stats::migration_table(migrations), stats::cnode_table(stays),
          stats::latency_table(latencies),    stats::global_table(globals)};
}

TEST_F(UnknownFiguresTest, TablesHaveDashesForPeopleAndNumbersForScripts) {
  for (const stats::Report& report : unknown_tables()) {
    EXPECT_THAT(lines_with_zero(text_of(report, ReportShape{})), IsEmpty());
    EXPECT_THAT(text_of(report, ReportShape{}), HasSubstr("-"));
    const stats::Report numbers = stats::with_numbers_only(report);
    for (const std::vector<stats::Cell>& row : numbers.rows) {
      for (const stats::Cell& cell : row) {
        EXPECT_FALSE(std::holds_alternative<stats::NoValue>(cell)) << report.type;
      }
    }
    const std::string line = balancer::encode_response(7, balancer::Answer(report));
    const auto again = balancer::decode_view<stats::Report>(json::parse(line).at("result").dump());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, report);
  }
}

}  // namespace
}  // namespace vmnuma::tools
