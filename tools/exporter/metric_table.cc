// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metric_table.h"

#include <array>
#include <span>

#include "balancer/protocol/view_fields.h"

namespace vmnuma::tools {

namespace {

constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kCounter = MetricKind::kCounter;

constexpr std::array kOwn{
    MetricInfo{"vmnuma_up", kGauge, "", "1 if the daemon answered the last time it was asked."},
    MetricInfo{"vmnuma_exporter_info", kGauge, "version",
               "Always 1; the label is the exporter's version."},
    MetricInfo{"vmnuma_answer_seconds", kGauge, "", "How long the daemon took to answer."},
    MetricInfo{"vmnuma_failed_reads_total", kCounter, "",
               "Times the daemon was asked and gave no valid answer."},
    MetricInfo{"process_cpu_seconds_total", kCounter, "", "CPU time that this exporter used."},
    MetricInfo{"process_resident_memory_bytes", kGauge, "", "Resident memory of this exporter."},
    MetricInfo{"process_virtual_memory_bytes", kGauge, "", "Virtual memory size of this exporter."},
    MetricInfo{"process_open_fds", kGauge, "", "File descriptors that this exporter has open."},
    MetricInfo{"process_max_fds", kGauge, "", "Maximum number of open file descriptors."},
    MetricInfo{"process_start_time_seconds", kGauge, "",
               "When this exporter was started, in seconds since 1970."},
};
constexpr std::array kDaemon{
    MetricInfo{"vmnuma_daemon_info", kGauge, "version, uri",
               "Always 1; the labels are the daemon's version and the libvirt it is connected to."},
    MetricInfo{"vmnuma_mode", kGauge, "mode", "1 for the mode the daemon is in, 0 for all others."},
    MetricInfo{"vmnuma_missing_sources", kGauge, "",
               "Parts of the host or the service that do not work at present."},
    MetricInfo{"vmnuma_source_missing_since_timestamp_seconds", kGauge, "source",
               "Since when a source has been missing, in seconds since 1970."},
    MetricInfo{"vmnuma_history_writable", kGauge, "", "1 if the history is being recorded."},
    MetricInfo{"vmnuma_forecast_vms", kGauge, "predictor",
               "VMs whose forecast counts in decisions, by the predictor that made it."},
    MetricInfo{"vmnuma_transfers", kGauge, "state", "VMs whose memory is being moved."},
    MetricInfo{"vmnuma_transfer_done_bytes", kGauge, "vm",
               "Memory that a transfer has moved so far."},
    MetricInfo{"vmnuma_transfer_remaining_bytes", kGauge, "vm",
               "Memory that a transfer still has to move."},
};
constexpr std::array kHost{
    MetricInfo{"vmnuma_actions_total", kCounter, "reason, state",
               "Placements, moves, swaps and memory pulls that have ended."},
};
constexpr std::array kNodes{
    MetricInfo{"vmnuma_node_distance", kGauge, "node, to",
               "SLIT distance from a node to another; 10 is local."},
    MetricInfo{"vmnuma_node_used_cpu_seconds_total", kCounter, "node",
               "CPU time used by the clients homed on the node."},
    MetricInfo{"vmnuma_node_ready_cpu_seconds_total", kCounter, "node",
               "Time the clients homed on the node waited for a CPU."},
    MetricInfo{"vmnuma_node_entitled_cpu_seconds_total", kCounter, "node",
               "CPU time the clients homed on the node were entitled to."},
    MetricInfo{"vmnuma_node_owed_cpu_seconds_total", kCounter, "node",
               "CPU time the clients homed on the node were entitled to and did not get."},
    MetricInfo{"vmnuma_node_locality_ratio", kGauge, "node",
               "Share of the memory of the clients homed on the node that lies there."},
};
constexpr std::array kVms{
    MetricInfo{"vmnuma_vm_info", kGauge, "vm, uuid",
               "Always 1; the labels are those of a running VM."},
    MetricInfo{"vmnuma_vm_advice", kGauge, "vm, kind",
               "1 for each problem in the VM's definition that vmnuma advise warns of, by its name "
               "there."},
};
constexpr std::array kClients{
    MetricInfo{"vmnuma_client_home", kGauge, "vm, client, node",
               "1 for the client's home node; there is none until it is placed."},
    MetricInfo{"vmnuma_client_used_cpu_seconds_total", kCounter, "vm, client",
               "CPU time the client used."},
    MetricInfo{"vmnuma_client_ready_cpu_seconds_total", kCounter, "vm, client",
               "Time the client waited for a CPU."},
    MetricInfo{"vmnuma_client_entitled_cpu_seconds_total", kCounter, "vm, client",
               "CPU time the client was entitled to."},
    MetricInfo{"vmnuma_client_owed_cpu_seconds_total", kCounter, "vm, client",
               "CPU time the client was entitled to and did not get."},
    MetricInfo{"vmnuma_client_memory_bytes", kGauge, "vm, client, node",
               "Resident memory of the client on a node."},
};

/// Adds the fields of a view that are metrics.
class MetricFields {
 public:
  MetricFields(std::string_view labels, std::vector<MetricInfo>& table)
      : labels_(labels), table_(table) {}

  template <class T>
  void operator()(std::string_view /*name*/, const T& /*value*/) {}
  template <class T>
  void operator()(std::string_view /*name*/, const T& /*value*/, const balancer::Metric& metric) {
    if (table_.back().name == metric.name) {
      return;  // another series of the same metric
    }
    table_.push_back({metric.name, metric.name.ends_with("_total") ? kCounter : kGauge, labels_,
                      metric.help, metric.label});
  }
  void time(std::string_view /*name*/, const balancer::Figure& /*unix_s*/) {}

 private:
  std::string_view labels_;
  std::vector<MetricInfo>& table_;
};

template <class View>
void add(std::string_view labels, std::span<const MetricInfo> others,
         std::vector<MetricInfo>& table) {
  MetricFields fields(labels, table);
  const View view;
  balancer::visit_fields(fields, view);
  table.insert(table.end(), others.begin(), others.end());
}

}  // namespace

std::string labels_text(const MetricInfo& metric) {
  return std::string(metric.labels).append(metric.label.empty() ? "" : ", ").append(metric.label);
}

std::vector<MetricInfo> metric_table() {
  std::vector<MetricInfo> table(kOwn.begin(), kOwn.end());
  add<balancer::StatusView>("", kDaemon, table);
  add<balancer::LargestVmView>("", {}, table);
  add<balancer::LargestOnPagesView>("page_bytes", {}, table);
  add<balancer::HostView>("", kHost, table);
  add<balancer::NodeView>("node", kNodes, table);
  add<balancer::HugePagesView>("node, page_bytes", {}, table);
  add<balancer::VmView>("vm", kVms, table);
  add<balancer::VmClientView>("vm, client", kClients, table);
  return table;
}

}  // namespace vmnuma::tools
