// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "placement/model/plan.h"
#include "tools/vmnuma/report/chart.h"
#include "tools/vmnuma/report/host_report.h"
#include "tools/vmnuma/report/summary.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/top/top_host.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

namespace {

// The colours are readable on both light and dark backgrounds.
constexpr std::string_view kStyle = R"(<style>
:root { color-scheme: light dark; --ground: #fff; --ink: #1c2024; --faint: #8a929a; --card: #f3f5f7; }
@media (prefers-color-scheme: dark) { :root { --ground: #15181b; --ink: #e6e9ec; --card: #21262b; } }
body { background: var(--ground); color: var(--ink); font: 15px/1.45 sans-serif; margin: 2em auto;
  max-width: 70em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; }
th, td { border-bottom: 1px solid var(--card); padding: .25em .6em .25em 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.nodes { display: grid; gap: .8em; grid-template-columns: repeat(auto-fill, minmax(17em, 1fr)); }
.node { background: var(--card); border-radius: .4em; padding: .7em 1em; }
.node h3 { font-size: 1em; margin: 0; } .node p { margin: .2em 0; } .faint, .mark { color: var(--faint); }
.bar { background: var(--ground); display: flex; height: .45em; margin: .15em 0 .4em; }
.bar i { background: #3b82c4; height: 100%; } .bar i.others { background: var(--faint); }
svg { width: 100%; } .mark { fill: var(--faint); font-size: 11px; } .grid { stroke: var(--card); }
.line { fill: none; stroke-width: 1.6; } .key::before { content: "\25ac\00a0"; }
.c0 { stroke: #3b82c4; } .c1 { stroke: #d97f2c; } .c2 { stroke: #3f9c5f; } .c3 { stroke: #c2485f; }
.c4 { stroke: #8b6cc9; } .c5 { stroke: #9a7355; } .c6 { stroke: #cf6fb3; } .c7 { stroke: #7d8a32; }
.k0::before { color: #3b82c4; } .k1::before { color: #d97f2c; } .k2::before { color: #3f9c5f; }
.k3::before { color: #c2485f; } .k4::before { color: #8b6cc9; } .k5::before { color: #9a7355; }
.k6::before { color: #cf6fb3; } .k7::before { color: #7d8a32; }
</style>
)";

std::string whole_percent(std::int64_t permille) {
  return fmt::format("{} %", permille / 10);
}

/// Returns a bar; the other load's part comes after the first.
std::string bar_html(std::int64_t permille, std::int64_t others_permille) {
  const auto width = [](std::int64_t share, std::int64_t most) {
    return std::clamp<std::int64_t>(share / 10, 0, most);
  };
  const std::int64_t first = width(permille, 100);
  return fmt::format("<div class=\"bar\"><i style=\"width:{}%\"></i>{}</div>\n", first,
                     others_permille > 0
                         ? fmt::format("<i class=\"others\" style=\"width:{}%\"></i>",
                                       width(others_permille, 100 - first))
                         : "");
}

std::string load_html(const balancer::NodeView& node) {
  if (!node.vm_load_pct || !node.non_vm_pct) {
    return "";
  }
  return fmt::format("<p>VMs want {} % of it, others use {} %</p>\n", *node.vm_load_pct,
                     *node.non_vm_pct) +
         bar_html(*node.vm_load_pct * 10, *node.non_vm_pct * 10);
}

std::string client_html(const TopClient& client) {
  const auto local = local_permille(client);
  return fmt::format("<p>{}/{}: {} vCPUs, {}{}</p>\n", html_escaped(client.vm), client.client,
                     client.vcpus,
                     client.memory_bytes ? bytes_text(*client.memory_bytes) : "memory not known",
                     local ? ", " + whole_percent(*local) + " local" : "") +
         (local ? bar_html(*local, 0) : "");
}

std::string distances_html(const balancer::HostView& host) {
  std::string html = "<h2>Distances</h2>\n<table><tr><th>from / to</th>";
  for (const auto& node : host.nodes) {
    html += fmt::format("<th class=\"n\">{}</th>", node.node.value);
  }
  html += "</tr>\n";
  for (const auto& node : host.nodes) {
    html += fmt::format("<tr><th>node {}</th>", node.node.value);
    for (const std::int32_t distance : node.distances) {
      html += fmt::format("<td class=\"n\">{}</td>", distance);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string map_html(const HostReport& report) {
  std::string html = "<h2>The host now</h2>\n";
  if (!report.host) {
    return html + fmt::format("<p>Not known: {}</p>\n", html_escaped(report.why_no_host));
  }
  const TopHost host = top_host({}, *report.host);
  html += "<div class=\"nodes\">\n";
  for (const balancer::NodeView& node : host.nodes) {
    html += fmt::format(
        "<section class=\"node\"><h3>Node {}</h3><p class=\"faint\">{} CPUs, {} of {} used</p>\n",
        node.node.value, node.cpus, bytes_text(used_bytes(node)), bytes_text(node.memory_bytes));
    html += load_html(node);
    for (const TopClient& client : host.clients) {
      html += client.home == node.node ? client_html(client) : "";
    }
    html += "</section>\n";
  }
  html += "</div>\n";
  for (const TopClient& client : host.clients) {
    html += client.home.value < 0
                ? fmt::format("<p>{}/{} has no home.</p>\n", html_escaped(client.vm), client.client)
                : "";
  }
  return html + distances_html(*report.host);
}

std::int64_t unix_s(stats::WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// Returns the largest distance between consecutive samples; a longer one is a gap.
std::int64_t longest_step(const stats::Past& past) {
  constexpr std::int64_t kSteps = 3;
  switch (past.span) {
    case stats::SampleSpan::kMinute:
      return kSteps * 60;
    case stats::SampleSpan::kHour:
      return kSteps * 3600;
    case stats::SampleSpan::kEpoch:
      break;
  }
  std::int64_t epoch_us = 0;
  for (const auto& sample : past.nodes) {
    epoch_us = std::max(epoch_us, sample.epoch_length.value);
  }
  return std::max<std::int64_t>(kSteps * epoch_us / 1'000'000, 10);
}

Chart node_chart(const HostReport& report, const std::string& title,
                 balancer::Figure (*figure)(const stats::NodeSampleRow& row)) {
  std::map<std::int32_t, ChartLine> lines;
  for (const auto& sample : report.past.nodes) {
    ChartLine& line = lines[sample.row.node.value];
    line.name = fmt::format("node {}", sample.row.node.value);
    if (const balancer::Figure permille = figure(sample.row)) {
      line.points.push_back({unix_s(sample.time), *permille});
    }
  }
  Chart chart{title, report.since_unix_s, report.until_unix_s, {}, longest_step(report.past)};
  for (auto& [node, line] : lines) {
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

Chart locality_chart(const HostReport& report) {
  ChartLine line{"all VMs", {}};
  for (const stats::LocalityPoint& point : report.past.locality) {
    const balancer::Figure permille =
        share_permille(point.local.value, point.local.value + point.remote.value);
    if (permille) {
      line.points.push_back({unix_s(point.time), *permille});
    }
  }
  return {"Local memory",
          report.since_unix_s,
          report.until_unix_s,
          {std::move(line)},
          longest_step(report.past)};
}

std::string chart_html(const Chart& chart) {
  return fmt::format("<h2>{}</h2>\n", html_escaped(chart.title)) + svg_of(chart, kMostPoints);
}

std::string charts_html(const HostReport& report) {
  return chart_html(
             node_chart(report, "What VMs want, in per cent of the nodes", vm_load_permille)) +
         chart_html(node_chart(report,
                               "What processes other than VMs use, in per cent of the nodes",
                               non_vm_permille)) +
         chart_html(node_chart(report, "CPU time owed, in per cent of the nodes' capacity",
                               [](const stats::NodeSampleRow& row) {
                                 return share_permille(row.owed.value, row.capacity.value);
                               })) +
         chart_html(locality_chart(report));
}

std::string lost_text(CpuTime before, CpuTime after) {
  return fmt::format("{} to {} ms", before.value / 1000, after.value / 1000);
}

std::string locality_text(const std::optional<Permille>& before,
                          const std::optional<Permille>& after) {
  return before && after ? fmt::format(", {} to {} local", whole_percent(before->value),
                                       whole_percent(after->value))
                         : "";
}

std::string promised_text(const stats::ActionRow& action) {
  const Prediction& predicted = action.predicted;
  const PredictedFigures figures = predicted_figures(action.reason, predicted.known);
  std::string text =
      figures.lost_time ? lost_text(predicted.lost_before, predicted.lost_after) : "-";
  if (figures.locality_before && figures.locality_after) {
    text += locality_text(predicted.locality_before, predicted.locality_after);
  }
  return text;
}

std::string move_html(const stats::PastAction& past, const stats::RelocationRow& relocation) {
  std::string brought = "not measured";
  std::string moved = "-";
  if (past.outcome) {
    brought = lost_text(past.outcome->lost_before, past.outcome->lost_after) +
              locality_text(past.outcome->locality_before, past.outcome->locality_after);
    moved = fmt::format("{} in {}.{} s", bytes_text(past.outcome->moved.value),
                        past.outcome->took.count() / 1000, past.outcome->took.count() / 100 % 10);
  }
  return fmt::format(
      "<tr><td>{}</td><td>{}/{}</td><td>{}</td><td>{} to {}{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td>{}{}</td></tr>\n",
      local_time_text(unix_s(past.action.time)), html_escaped(relocation.vm_name),
      relocation.client, html_escaped(past.action.reason), node_text(relocation.from),
      node_text(relocation.to),
      relocation.spills_to.value >= 0 ? "+" + node_text(relocation.spills_to) : "",
      promised_text(past.action), brought, moved, name_of(past.state),
      past.detail.empty() ? "" : ": " + html_escaped(past.detail));
}

std::string moves_html(const HostReport& report) {
  std::string html = "<h2>Moves, newest first</h2>\n";
  if (report.past.actions.empty()) {
    return html + "<p>None.</p>\n";
  }
  html +=
      "<p class=\"faint\">Promised and brought: CPU time that the whole host loses per epoch, "
      "before and after.</p>\n"
      "<table><tr><th>Time</th><th>VM/client</th><th>Reason</th><th>Node</th><th>Promised</th>"
      "<th>Brought</th><th>Memory</th><th>State</th></tr>\n";
  for (const stats::PastAction& past : report.past.actions) {
    for (const stats::RelocationRow& relocation : past.action.relocations) {
      html += move_html(past, relocation);
    }
  }
  html += "</table>\n";
  if (std::ssize(report.past.actions) >= stats::kMostPastActions) {
    html += fmt::format("<p>There are more; these are the last {}.</p>\n", stats::kMostPastActions);
  }
  return html;
}

}  // namespace

std::string report_html(const HostReport& report) {
  const std::string title = fmt::format("NUMA balance of {}", html_escaped(report.host_name));
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>{}</title>\n",
             title) +
         std::string(kStyle) +
         fmt::format("</head>\n<body>\n<h1>{}</h1>\n<p>{} to {}</p>\n", title,
                     local_time_text(report.since_unix_s), local_time_text(report.until_unix_s)) +
         map_html(report) + charts_html(report) + moves_html(report) + "</body>\n</html>\n";
}

}  // namespace vmnuma::tools
