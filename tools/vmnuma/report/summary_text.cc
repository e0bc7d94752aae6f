// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/time_text.h"
#include "stats/text/json.h"
#include "tools/vmnuma/report/host_report.h"
#include "tools/vmnuma/report/summary.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

std::string nodes_table(const ReportSummary& summary) {
  Table table({{"NODE", Align::kRight},
               {"LOAD(%)", Align::kRight},
               {"HIGHEST(%)", Align::kRight},
               {"OTHERS(%)", Align::kRight},
               {"OWED(%)", Align::kRight}});
  for (const NodeSummary& node : summary.nodes) {
    table.add_row({std::to_string(node.node), permille_text(node.vm_load_permille),
                   permille_text(node.highest_vm_load_permille),
                   permille_text(node.non_vm_permille), permille_text(node.owed_permille)});
  }
  return table.empty() ? "No samples.\n" : table.text();
}

balancer::Figure permille(const std::optional<Permille>& share) {
  return share ? balancer::Figure(share->value) : std::nullopt;
}

/// Returns the VMs whose tasks waited at all.
std::string waits_table(const std::vector<stats::VmPast>& vms) {
  std::vector<VmFigureInfo> waits;
  std::vector<Table::Column> columns{{"VM"}};
  for (const VmFigureInfo& info : kVmFigures) {
    if (!info.report_title.empty()) {
      waits.push_back(info);
      columns.push_back({std::string(info.report_title), Align::kRight});
    }
  }
  Table table(columns);
  for (const stats::VmPast& vm : vms) {
    std::vector<std::string> cells{vm.name};
    bool waited = false;
    for (const VmFigureInfo& info : waits) {
      const balancer::Figure share = permille(vm.figures.*info.value);
      cells.push_back(permille_text(share));
      waited = waited || share.value_or(0) > 0;
    }
    if (waited) {
      table.add_row(std::move(cells));
    }
  }
  return table.empty() ? ""
                       : "\nTime in which some task waited for a CPU or for memory, or all "
                         "for memory:\n" +
                             table.text();
}

std::string reasons_table(const ReportSummary& summary) {
  Table table({{"REASON"},
               {"DONE", Align::kRight},
               {"UNDONE", Align::kRight},
               {"DROPPED", Align::kRight},
               {"OPEN", Align::kRight},
               {"PROMISED(ms)", Align::kRight},
               {"BROUGHT(ms)", Align::kRight}});
  for (const ReasonSummary& reason : summary.reasons) {
    table.add_row({reason.reason, std::to_string(reason.done), std::to_string(reason.undone),
                   std::to_string(reason.dropped), std::to_string(reason.open),
                   figure_text(reason.promised_ms), figure_text(reason.brought_ms)});
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
  if (summary.locality_first_permille || summary.locality_last_permille) {
    text += fmt::format("\nLocal memory: {} in the beginning, {} in the end\n",
                        permille_text(summary.locality_first_permille, "%"),
                        permille_text(summary.locality_last_permille, "%"));
  }
  text += waits_table(report.past.vms);
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
  const auto optional = [](const balancer::Figure& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  json["nodes"] = nlohmann::ordered_json::array();
  for (const NodeSummary& node : summary.nodes) {
    json["nodes"].push_back({{"node", node.node},
                             {"vm_load_permille", optional(node.vm_load_permille)},
                             {"highest_vm_load_permille", optional(node.highest_vm_load_permille)},
                             {"non_vm_permille", optional(node.non_vm_permille)},
                             {"owed_permille", optional(node.owed_permille)}});
  }
  json["reasons"] = nlohmann::ordered_json::array();
  for (const ReasonSummary& reason : summary.reasons) {
    json["reasons"].push_back({{"reason", reason.reason},
                               {"done", reason.done},
                               {"undone", reason.undone},
                               {"dropped", reason.dropped},
                               {"open", reason.open},
                               {"measured", reason.measured},
                               {"promised_ms", optional(reason.promised_ms)},
                               {"brought_ms", optional(reason.brought_ms)}});
  }
  json["vms"] = nlohmann::ordered_json::array();
  for (const stats::VmPast& vm : report.past.vms) {
    nlohmann::ordered_json row{{"vm", vm.name}, {"vm_uuid", vm.uuid}};
    for (const VmFigureInfo& info : kVmFigures) {
      row[std::string(info.name)] = optional(permille(vm.figures.*info.value));
    }
    json["vms"].push_back(std::move(row));
  }
  json["locality_first_permille"] = optional(summary.locality_first_permille);
  json["locality_last_permille"] = optional(summary.locality_last_permille);
  json["moved_bytes"] = summary.moved_bytes;
  return text::json_text(json);
}

}  // namespace vmnuma::tools
