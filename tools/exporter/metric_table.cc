// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metric_table.h"

#include <iterator>
#include <span>

#include "balancer/protocol/view_fields.h"

namespace vmnuma::tools {

namespace {

constexpr MetricInfo kOwn[] = {
    {"vmnuma_up", "", "1 if the daemon answered the last time it was asked."},
    {"vmnuma_exporter_info", "version", "Always 1; the label is the exporter's version."},
    {"vmnuma_answer_seconds", "", "How long the daemon took to answer."},
    {"vmnuma_failed_reads_total", "", "Times the daemon was asked and gave no valid answer."},
    {"process_cpu_seconds_total", "", "CPU time that this exporter used."},
    {"process_resident_memory_bytes", "", "Resident memory of this exporter."},
    {"process_virtual_memory_bytes", "", "Virtual memory size of this exporter."},
    {"process_open_fds", "", "File descriptors that this exporter has open."},
    {"process_max_fds", "", "Maximum number of open file descriptors."},
    {"process_start_time_seconds", "", "When this exporter was started, in seconds since 1970."},
};
constexpr MetricInfo kDaemon[] = {
    {"vmnuma_daemon_info", "version, uri",
     "Always 1; the labels are the daemon's version and the libvirt it is connected to."},
    {"vmnuma_mode", "mode", "1 for the mode the daemon is in, 0 for all others."},
    {"vmnuma_missing_sources", "", "Parts of the host or the service that do not work at present."},
    {"vmnuma_source_missing_since_timestamp_seconds", "source",
     "Since when a source has been missing, in seconds since 1970."},
    {"vmnuma_history_writable", "", "1 if the history is being recorded."},
    {"vmnuma_forecast_vms", "predictor",
     "VMs whose forecast counts in decisions, by the predictor that made it."},
    {"vmnuma_transfers", "state", "VMs whose memory is being moved."},
    {"vmnuma_transfer_done_bytes", "vm", "Memory that a transfer has moved so far."},
    {"vmnuma_transfer_remaining_bytes", "vm", "Memory that a transfer still has to move."},
};
constexpr MetricInfo kHost[] = {
    {"vmnuma_actions_total", "reason, state",
     "Placements, moves, swaps and memory pulls that have ended."},
};
constexpr MetricInfo kNodes[] = {
    {"vmnuma_node_distance", "node, to", "SLIT distance from a node to another; 10 is local."},
    {"vmnuma_node_used_cpu_seconds_total", "node",
     "CPU time used by the clients homed on the node."},
    {"vmnuma_node_ready_cpu_seconds_total", "node",
     "Time the clients homed on the node waited for a CPU."},
    {"vmnuma_node_entitled_cpu_seconds_total", "node",
     "CPU time the clients homed on the node were entitled to."},
    {"vmnuma_node_owed_cpu_seconds_total", "node",
     "CPU time the clients homed on the node were entitled to and did not get."},
    {"vmnuma_node_locality_ratio", "node",
     "Share of the memory of the clients homed on the node that lies there."},
};
constexpr MetricInfo kVms[] = {
    {"vmnuma_vm_info", "vm, uuid", "Always 1; the labels are those of a running VM."},
    {"vmnuma_vm_advice", "vm, kind",
     "1 for each problem in the VM's definition that vmnuma advise warns of, by its name there."},
};
constexpr MetricInfo kClients[] = {
    {"vmnuma_client_home", "vm, client, node",
     "1 for the client's home node; there is none until it is placed."},
    {"vmnuma_client_used_cpu_seconds_total", "vm, client", "CPU time the client used."},
    {"vmnuma_client_ready_cpu_seconds_total", "vm, client", "Time the client waited for a CPU."},
    {"vmnuma_client_entitled_cpu_seconds_total", "vm, client",
     "CPU time the client was entitled to."},
    {"vmnuma_client_owed_cpu_seconds_total", "vm, client",
     "CPU time the client was entitled to and did not get."},
    {"vmnuma_client_memory_bytes", "vm, client, node", "Resident memory of the client on a node."},
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
    table_.push_back({metric.name, labels_, metric.help, metric.label});
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
  std::vector<MetricInfo> table(std::begin(kOwn), std::end(kOwn));
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
