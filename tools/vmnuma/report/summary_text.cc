// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/time_text.h"
#include "tools/vmnuma/report/host_report.h"
#include "tools/vmnuma/report/summary.h"
#include "tools/vmnuma/table.h"
#include "tools/vmnuma/text.h"

namespace vmnuma::tools {

namespace {

using Align = Table::Align;

std::string percent(std::int64_t permille) {
  return fmt::format("{}.{}", permille / 10, permille % 10);
}

std::string nodes_table(const ReportSummary& summary) {
  Table table({{"NODE", Align::kRight},
               {"LOAD(%)", Align::kRight},
               {"HIGHEST(%)", Align::kRight},
               {"OWED(%)", Align::kRight}});
  for (const NodeSummary& node : summary.nodes) {
    table.add_row({std::to_string(node.node), percent(node.load_permille),
                   percent(node.highest_load_permille), percent(node.owed_permille)});
  }
  return table.empty() ? "No samples.\n" : table.text();
}

std::string reasons_table(const ReportSummary& summary) {
  Table table({{"REASON", Align::kShrinks},
               {"DONE", Align::kRight},
               {"UNDONE", Align::kRight},
               {"DROPPED", Align::kRight},
               {"OPEN", Align::kRight},
               {"PROMISED(ms)", Align::kRight},
               {"BROUGHT(ms)", Align::kRight}});
  for (const ReasonSummary& reason : summary.reasons) {
    table.add_row({reason.reason, std::to_string(reason.done), std::to_string(reason.undone),
                   std::to_string(reason.dropped), std::to_string(reason.open),
                   std::to_string(reason.promised_ms), std::to_string(reason.brought_ms)});
  }
  return table.empty() ? "No moves.\n" : table.text();
}

}  // namespace

std::string report_text(const HostReport& report) {
  const ReportSummary summary = summary_of(report.past);
  std::string text =
      fmt::format("{}, {} to {}\n\n", printable(report.host_name),
                  local_time_text(report.since_unix_s), local_time_text(report.until_unix_s));
  text += nodes_table(summary);
  if (summary.locality_first_permille && summary.locality_last_permille) {
    text += fmt::format("\nLocal memory: {} % in the beginning, {} % in the end\n",
                        percent(*summary.locality_first_permille),
                        percent(*summary.locality_last_permille));
  }
  text += "\n" + reasons_table(summary);
  if (!summary.reasons.empty()) {
    text += wrapped(
        fmt::format("{} of memory moved. Promised and brought are the lost time per epoch saved by "
                    "the moves that have been measured.",
                    bytes_text(summary.moved_bytes)),
        /*indent=*/0);
  }
  return text;
}

std::string report_json(const HostReport& report) {
  const ReportSummary summary = summary_of(report.past);
  nlohmann::ordered_json json;
  json["host"] = report.host_name;
  json["since"] = balancer::time_text(report.since_unix_s);
  json["until"] = balancer::time_text(report.until_unix_s);
  json["nodes"] = nlohmann::ordered_json::array();
  for (const NodeSummary& node : summary.nodes) {
    json["nodes"].push_back({{"node", node.node},
                             {"load_permille", node.load_permille},
                             {"highest_load_permille", node.highest_load_permille},
                             {"owed_permille", node.owed_permille}});
  }
  json["reasons"] = nlohmann::ordered_json::array();
  for (const ReasonSummary& reason : summary.reasons) {
    json["reasons"].push_back({{"reason", reason.reason},
                               {"done", reason.done},
                               {"undone", reason.undone},
                               {"dropped", reason.dropped},
                               {"open", reason.open},
                               {"measured", reason.measured},
                               {"promised_ms", reason.promised_ms},
                               {"brought_ms", reason.brought_ms}});
  }
  const auto optional = [](const std::optional<std::int64_t>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  json["locality_first_permille"] = optional(summary.locality_first_permille);
  json["locality_last_permille"] = optional(summary.locality_last_permille);
  json["moved_bytes"] = summary.moved_bytes;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace vmnuma::tools
