// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metrics.h"

#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/text/printable.h"
#include "tests/support/views.h"
#include "tools/exporter/metric_table.h"
#include "tools/exporter/own_process.h"

namespace vmnuma::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Reading reading() {
  Reading reading;
  reading.views = Views{tests::status_view(), tests::host_view(), "{}", "{}", "null"};
  reading.time_unix_ms = 1738324800000;
  reading.took = std::chrono::microseconds(1500);
  reading.process = read_own_process(/*start_unix_s=*/1738324800);
  return reading;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    found.push_back(line);
  }
  return found;
}

/// The series of a text, without their values.
std::vector<std::string> series(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : lines(text)) {
    if (!line.starts_with('#')) {
      found.push_back(line.substr(0, line.rfind(' ')));
    }
  }
  return found;
}

TEST(MetricsTest, TellsOfItsOwnProcess) {
  Reading without_daemon;
  without_daemon.process = reading().process;
  const std::string text = metrics_text(without_daemon);
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes",
                           "process_virtual_memory_bytes", "process_open_fds", "process_max_fds"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + name + " "));
  }
  EXPECT_THAT(lines(text), Contains("process_start_time_seconds 1738324800"));
}

TEST(MetricsTest, FiguresComeInBaseUnits) {
  const std::string text = metrics_text(reading());
  for (const char* line : {
           "vmnuma_up 1",
           "vmnuma_answer_seconds 0.0015",
           "vmnuma_mode{mode=\"degraded\"} 1",
           "vmnuma_mode{mode=\"active\"} 0",
           "vmnuma_missing_sources 1",
           "vmnuma_source_missing_since_timestamp_seconds{source=\"libvirt\"} 1738324800",
           "vmnuma_history_writable 1",
           "vmnuma_epochs_total 1234",
           "vmnuma_epoch_length_seconds 2",
           "vmnuma_epoch_late_seconds 0.007",
           "vmnuma_epoch_late_most_seconds 0.045",
           "vmnuma_wakeup_pairs 3",
           "vmnuma_forecast_vms{predictor=\"trained\"} 14",
           "vmnuma_forecast_vms{predictor=\"histogram\"} 4",
           "vmnuma_forecast_vms{predictor=\"last-maximum\"} 1",
           "vmnuma_imbalance_ratio 0.12",
           "vmnuma_lost_cpu_seconds_total 98.765",
           "vmnuma_actions_total{reason=\"load-move\",state=\"done\"} 7",
           "vmnuma_migrated_bytes_total 11811160064",
           "vmnuma_largest_vm_vcpus 16",
           "vmnuma_largest_vm_memory_bytes 47244640256",
           "vmnuma_room_for_vms_bytes 96636764160",
           "vmnuma_largest_vm_huge_page_bytes{page_bytes=\"2097152\"} 8589934592",
           "vmnuma_largest_vm_huge_page_bytes{page_bytes=\"1073741824\"} 0",
           "vmnuma_node_largest_vm_vcpus{node=\"0\"} 16",
           "vmnuma_node_largest_vm_memory_bytes{node=\"0\"} 19327352832",
           "vmnuma_node_largest_vm_huge_page_bytes{node=\"0\",page_bytes=\"2097152\"} 1073741824",
           "vmnuma_reservations 0",
           "vmnuma_node_reservation_bytes{node=\"0\"} 536870912",
           "vmnuma_transfers{state=\"running\"} 1",
           "vmnuma_transfers{state=\"paused\"} 0",
           "vmnuma_transfer_remaining_bytes{vm=\"web1\"} 5368709120",
           "vmnuma_node_known{node=\"1\"} 0",
           "vmnuma_node_distance{node=\"0\",to=\"1\"} 21",
           "vmnuma_node_load_ratio{node=\"0\"} 0.83",
           "vmnuma_node_vm_load_ratio{node=\"0\"} 0.8",
           "vmnuma_node_non_vm_ratio{node=\"0\"} 0.03",
           "vmnuma_vm_cpu_pressure_ratio{vm=\"web1\"} 0.321",
           "vmnuma_vm_memory_pressure_ratio{vm=\"web1\",tasks=\"some\"} 0.045",
           "vmnuma_vm_memory_pressure_ratio{vm=\"web1\",tasks=\"full\"} 0.006",
           "vmnuma_vm_huge_page_ratio{vm=\"web1\"} 0.78",
           "vmnuma_vm_memory_stall_ratio{vm=\"web1\"} 0.21",
           "vmnuma_node_capacity_cpu_seconds_total{node=\"0\"} 9600",
           "vmnuma_node_owed_cpu_seconds_total{node=\"0\"} 125",
           "vmnuma_node_memory_free_bytes{node=\"0\"} 21474836480",
           "vmnuma_node_locality_ratio{node=\"0\"} 0.9375",  // 15 of 16 GiB
           "vmnuma_vm_managed{vm=\"web1\"} 1",
           "vmnuma_vm_weight{vm=\"web1\"} 200",
           "vmnuma_vm_advice{vm=\"web1\",kind=\"no-cells\"} 1",
           "vmnuma_client_home{vm=\"web1\",client=\"0\",node=\"0\"} 1",
           "vmnuma_client_entitled_cpu_seconds_total{vm=\"web1\",client=\"0\"} 8050",
           "vmnuma_client_memory_bytes{vm=\"web1\",client=\"0\",node=\"1\"} 1073741824",
           "vmnuma_client_locality_ratio{vm=\"web1\",client=\"0\"} 0.93",
           "vmnuma_client_moves_total{vm=\"web1\",client=\"0\"} 3",
       }) {
    EXPECT_THAT(lines(text), Contains(std::string(line)));
  }
}

TEST(MetricsTest, EveryMetricOfTheTableHasHelpAndTypeAndTurnsUp) {
  const std::string text = metrics_text(reading());
  for (const MetricInfo& metric : metric_table()) {
    const std::string name(metric.name);
    EXPECT_THAT(lines(text), Contains("# HELP " + name + " " + std::string(metric.help)));
    EXPECT_THAT(lines(text),
                Contains("# TYPE " + name + " " + (metric.is_counter() ? "counter" : "gauge")));
    // process_*: of the exporter itself, by Prometheus' convention.
    EXPECT_TRUE(name.starts_with("vmnuma_") || name.starts_with("process_")) << name;
  }
}

TEST(MetricsTest, LabelsAreThoseOfTheTable) {
  std::map<std::string, std::string> labels;  // "{a="1",b="2"}" as "a, b"
  for (const std::string& entry : series(metrics_text(reading()))) {
    const auto brace = entry.find('{');
    std::string names;
    std::string name;
    bool quoted = false;
    for (std::size_t i = brace; brace != std::string::npos && i < entry.size(); ++i) {
      const char c = entry[i];
      if (quoted) {
        i += c == '\\' ? 1 : 0;
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '=') {
        names += (names.empty() ? "" : ", ") + std::exchange(name, "");
      } else if (c != '{' && c != ',' && c != '}') {
        name += c;
      }
    }
    labels[entry.substr(0, brace)] = names;
  }
  for (const MetricInfo& metric : metric_table()) {
    EXPECT_EQ(labels[std::string(metric.name)], labels_text(metric)) << metric.name;
  }
}

TEST(MetricsTest, WhatIsNotKnownIsAbsent) {
  const std::string text = metrics_text(reading());
  EXPECT_THAT(text, Not(HasSubstr("vmnuma_client_home{vm=\"db")));
  EXPECT_THAT(text, Not(HasSubstr("vmnuma_client_locality_ratio{vm=\"db")));
  EXPECT_THAT(text, Not(HasSubstr("vmnuma_client_memory_bytes{vm=\"db")));
  EXPECT_THAT(text, Not(HasSubstr("vmnuma_node_locality_ratio{node=\"1\"")));  // no client there
}

TEST(MetricsTest, NamesAreEscaped) {
  Reading odd = reading();
  odd.views->host.vms[0].vm = "a\"b\\c";
  EXPECT_THAT(lines(metrics_text(odd)), Contains(R"(vmnuma_vm_managed{vm="a\"b\\c"} 1)"));
}

TEST(MetricsTest, NoLabelHasACharacterThatATerminalOrABrowserWouldObey) {
  // A line end, ESC, the C1 control CSI, and right-to-left override: in a label each is the text
  // that stands for it, whose backslash the exposition format doubles.
  Reading odd = reading();
  const std::string name =
      "a\n\x1b\xc2\x9b\xe2\x80\xae"
      "b";
  odd.views->host.vms[0].vm = name;
  odd.views->status.transfers.front().vm = name;
  odd.views->status.transfers.front().vm_uuid = odd.views->host.vms[0].vm_uuid;
  odd.views->status.uri = "qemu:///\xe2\x80\xae";
  odd.views->host.actions.front().reason = "load\xc2\x85move";
  const std::string text = metrics_text(odd);
  EXPECT_THAT(lines(text), Contains(R"(vmnuma_vm_managed{vm="a\\n\\x1b\\u009b\\u202eb"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(vmnuma_transfer_done_bytes{vm="a\\n\\x1b\\u009b\\u202eb"})"));
  EXPECT_THAT(text, HasSubstr(R"(uri="qemu:///\\u202e")"));
  for (const std::string& line : lines(text)) {
    EXPECT_EQ(text::printable(line), line);
  }
}

TEST(MetricsTest, VmsWhoseNamesShowAsTheSameAreToldApart) {
  Reading twins = reading();
  twins.views->host.vms[0].vm = "a\x1b";
  twins.views->host.vms[1].vm = R"(a\x1b)";
  const std::vector<std::string> all = series(metrics_text(twins));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(MetricsTest, NoSeriesAppearsTwiceEvenIfNamesDo) {
  Reading twins = reading();
  twins.views->host.vms[1].vm = twins.views->host.vms[0].vm;
  twins.views->status.transfers.push_back(twins.views->status.transfers.front());
  const std::vector<std::string> all = series(metrics_text(twins));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_THAT(all,
              Contains("vmnuma_vm_managed{vm=\"web1 (11111111-2222-3333-4444-555555555555)\"}"));
}

TEST(MetricsTest, WithoutTheDaemonOnlyTheExporterIsTold) {
  Reading none;
  none.problem = "the daemon did not answer";
  none.failures = 3;
  EXPECT_THAT(
      series(metrics_text(none)),
      ::testing::ElementsAre("vmnuma_up", "vmnuma_exporter_info{version=\"" VMNUMA_VERSION "\"}",
                             "vmnuma_failed_reads_total"));
  EXPECT_THAT(lines(metrics_text(none)), Contains("vmnuma_up 0"));
  EXPECT_THAT(lines(metrics_text(none)), Contains("vmnuma_failed_reads_total 3"));
}

TEST(MetricsTest, AnEmptyHostIsNoProblem) {
  Reading empty = reading();
  empty.views->host = {};
  empty.views->status = {};
  EXPECT_THAT(lines(metrics_text(empty)), Contains("vmnuma_nodes 0"));
  EXPECT_THAT(metrics_text(empty), Not(HasSubstr("vmnuma_vms")));  // not said
}

}  // namespace
}  // namespace vmnuma::tools
