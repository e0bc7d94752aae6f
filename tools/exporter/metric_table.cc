// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metric_table.h"

#include <array>

namespace vmnuma::tools {

namespace {

constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kCounter = MetricKind::kCounter;

constexpr std::array kTable{
    MetricInfo{"vmnuma_up", kGauge, "", "1 if the daemon answered the last time it was asked."},
    MetricInfo{"vmnuma_exporter_info", kGauge, "version", "This exporter."},
    MetricInfo{"vmnuma_answer_seconds", kGauge, "", "How long the daemon took to answer."},
    MetricInfo{"vmnuma_failed_reads_total", kCounter, "",
               "Times the daemon was asked and did not answer with sense."},

    // the daemon
    MetricInfo{"vmnuma_daemon_info", kGauge, "version, uri",
               "The daemon and the libvirt it is connected to."},
    MetricInfo{"vmnuma_mode", kGauge, "mode", "1 for the mode the daemon is in, 0 for all others."},
    MetricInfo{"vmnuma_missing_sources", kGauge, "",
               "Parts of the host or the service that do not work at present."},
    MetricInfo{"vmnuma_source_missing_since_timestamp_seconds", kGauge, "source",
               "Since when a source has been missing, in seconds since 1970."},
    MetricInfo{"vmnuma_history_writable", kGauge, "", "1 if the history is being recorded."},
    MetricInfo{"vmnuma_epochs_total", kCounter, "", "Epochs the daemon has measured."},
    MetricInfo{"vmnuma_epoch_length_seconds", kGauge, "", "Length of the last epoch."},
    MetricInfo{"vmnuma_epoch_late_seconds", kGauge, "",
               "From when the last epoch was due until it had been measured."},
    MetricInfo{"vmnuma_epoch_late_most_seconds", kGauge, "",
               "The same of the epoch that was the latest since the daemon was started."},
    MetricInfo{"vmnuma_wakeup_pairs", kGauge, "",
               "Pairs of VMs whose wake-ups of each other are counted; absent if none are."},
    MetricInfo{"vmnuma_forecast_vms", kGauge, "predictor",
               "VMs whose forecast counts in decisions, by the predictor that made it."},

    // the host
    MetricInfo{"vmnuma_nodes", kGauge, "", "NUMA nodes of the host."},
    MetricInfo{"vmnuma_vms", kGauge, "", "Running VMs."},
    MetricInfo{"vmnuma_clients", kGauge, "",
               "Clients: groups of one VM's vCPUs that live on one node."},
    MetricInfo{"vmnuma_imbalance_ratio", kGauge, "",
               "Largest difference between two nodes in owed CPU time by capacity."},
    MetricInfo{"vmnuma_lost_cpu_seconds_total", kCounter, "",
               "CPU time the host lost to shortage and to far memory, of one core."},
    MetricInfo{"vmnuma_actions_total", kCounter, "reason, state",
               "Placements, moves, swaps and memory pulls that have ended."},
    MetricInfo{"vmnuma_open_actions", kGauge, "", "Actions begun and not finished."},
    MetricInfo{"vmnuma_migrated_bytes_total", kCounter, "",
               "Memory moved between nodes by actions that have ended."},
    MetricInfo{"vmnuma_transfers", kGauge, "state", "VMs whose memory is on its way."},
    MetricInfo{"vmnuma_transfer_done_bytes", kGauge, "vm", "What a transfer has moved so far."},
    MetricInfo{"vmnuma_transfer_remaining_bytes", kGauge, "vm",
               "What a transfer still has to move."},

    // nodes
    MetricInfo{"vmnuma_node_known", kGauge, "node", "1 if the node's readings are there."},
    MetricInfo{"vmnuma_node_cores", kGauge, "node", "Physical cores that VMs may use."},
    MetricInfo{"vmnuma_node_cpus", kGauge, "node", "Logical CPUs that VMs may use."},
    MetricInfo{"vmnuma_node_vcpus", kGauge, "node", "vCPUs whose home the node is."},
    MetricInfo{"vmnuma_node_distance", kGauge, "node, to",
               "SLIT distance from a node to another; 10 is local."},
    MetricInfo{"vmnuma_node_load_ratio", kGauge, "node",
               "Load average by what others leave; above 1 if more is wanted than that."},
    MetricInfo{"vmnuma_node_vm_load_ratio", kGauge, "node",
               "What clients want of the whole node, as a load average."},
    MetricInfo{"vmnuma_node_non_vm_ratio", kGauge, "node",
               "What others than VMs use of the whole node."},
    MetricInfo{"vmnuma_node_capacity_cpu_seconds_total", kCounter, "node",
               "CPU time the node could give to clients."},
    MetricInfo{"vmnuma_node_non_vm_cpu_seconds_total", kCounter, "node",
               "CPU time used by all but clients."},
    MetricInfo{"vmnuma_node_used_cpu_seconds_total", kCounter, "node",
               "CPU time used by the clients homed on the node."},
    MetricInfo{"vmnuma_node_ready_cpu_seconds_total", kCounter, "node",
               "Time the clients homed on the node waited for a CPU."},
    MetricInfo{"vmnuma_node_entitled_cpu_seconds_total", kCounter, "node",
               "CPU time the clients homed on the node were entitled to."},
    MetricInfo{"vmnuma_node_owed_cpu_seconds_total", kCounter, "node",
               "CPU time the clients homed on the node were entitled to and did not get."},
    MetricInfo{"vmnuma_node_memory_bytes", kGauge, "node", "Memory of the node."},
    MetricInfo{"vmnuma_node_memory_free_bytes", kGauge, "node", "Free memory of the node."},
    MetricInfo{"vmnuma_node_memory_reserve_bytes", kGauge, "node",
               "Free memory that moves leave alone."},
    MetricInfo{"vmnuma_node_locality_ratio", kGauge, "node",
               "Share of the memory of the clients homed on the node that lies there."},

    // VMs and their clients
    MetricInfo{"vmnuma_vm_info", kGauge, "vm, uuid", "A running VM."},
    MetricInfo{"vmnuma_vm_weight", kGauge, "vm", "The VM's cpu.weight."},
    MetricInfo{"vmnuma_vm_managed", kGauge, "vm", "0 if the VM is left alone at present."},
    MetricInfo{"vmnuma_vm_cpu_pressure_ratio", kGauge, "vm",
               "Share of the last 10 s in which some task of the VM waited for a CPU."},
    MetricInfo{"vmnuma_vm_memory_pressure_ratio", kGauge, "vm, tasks",
               "Share of the last 10 s in which some or all (full) tasks waited for memory."},
    MetricInfo{"vmnuma_client_vcpus", kGauge, "vm, client", "vCPUs of the client."},
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
    MetricInfo{"vmnuma_client_locality_ratio", kGauge, "vm, client",
               "Share of the client's memory that lies on its home node."},
    MetricInfo{"vmnuma_client_moves_total", kCounter, "vm, client",
               "Moves of the client from node to node, since its VM was first seen."},
};

}  // namespace

std::span<const MetricInfo> metric_table() {
  return kTable;
}

}  // namespace vmnuma::tools
