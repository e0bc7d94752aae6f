// SPDX-License-Identifier: Apache-2.0
/// The fields of each view with their names in JSON, listed once for reading and writing. Internal
/// to this folder.
///
/// `fields(NAME, value)` is for a field, `fields.time(NAME, unix_s)` for a time of day, which may
/// be absent. If a field is also a metric, that is stated next to it; the exporter and its manual
/// page are derived from this.
#pragma once

#include <string_view>

#include "balancer/model/view.h"
#include "stats/text/archive.h"

namespace vmnuma::balancer {

/// A field as a metric: converted to base units according to the ending of the field's name (`_ms`,
/// `_pct`, `_permille`), and a counter if its name ends in `_total`.
struct Metric {
  std::string_view name;
  std::string_view help;         ///< one sentence
  std::string_view label = {};   ///< in addition to the identifying labels; empty: none
  std::string_view marked = {};  ///< the value of `label`
};

using text::MaybeConst;

void visit_fields(auto& fields, MaybeConst<DegradedView> auto& view) {
  fields("source", view.source);
  fields("reason", view.reason);
  fields.time("since", view.since_unix_s);
}

void visit_fields(auto& fields, MaybeConst<TransferView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("client", view.client);
  fields("action", view.action);
  fields("reason", view.reason);
  fields("to", view.to);
  fields("state", view.state);
  fields("bytes_done", view.bytes_done);
  fields("bytes_remaining", view.bytes_remaining);
  fields("rate_bytes_per_second", view.rate_bytes_per_second);
  fields("seconds_left", view.seconds_left);
  fields("stalls", view.stalls);
  fields("unmovable_bytes", view.unmovable_bytes);
  fields("problem", view.problem);
}

void visit_fields(auto& fields, MaybeConst<HistoryStateView> auto& view) {
  fields("path", view.path);
  fields("state", view.state);
}

void visit_fields(auto& fields, MaybeConst<RefusedPolicyView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("reason", view.reason);
}

void visit_fields(auto& fields, MaybeConst<NotAdmittedView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("refused", view.refused);
  fields("reason", view.reason);
  fields.time("time", view.time_unix_s);
}

void visit_fields(auto& fields, MaybeConst<ForecastsView> auto& view) {
  fields("trained", view.trained);
  fields("histogram", view.histogram);
  fields("last_maximum", view.last_maximum);
}

void visit_fields(auto& fields, MaybeConst<LargestOnPagesView> auto& view) {
  fields("page_bytes", view.page_bytes);
  fields("node", view.node);
  fields("memory_bytes", view.memory_bytes,
         Metric{"vmnuma_largest_vm_huge_page_bytes",
                "Memory on huge pages of a size of the largest VM on such pages that would start "
                "on one node."});
}

void visit_fields(auto& fields, MaybeConst<LargestVmView> auto& view) {
  fields("node", view.node);
  fields(
      "vcpus", view.vcpus,
      Metric{"vmnuma_largest_vm_vcpus", "vCPUs of the largest VM that would start on one node."});
  fields("memory_bytes", view.memory_bytes,
         Metric{"vmnuma_largest_vm_memory_bytes",
                "Memory on ordinary pages of the largest VM that would start on one node."});
  fields("room_bytes", view.room_bytes,
         Metric{"vmnuma_room_for_vms_bytes",
                "Memory for VMs that is free on all nodes together, without reserves and promised "
                "memory."});
  fields("huge_pages", view.huge_pages);
}

void visit_fields(auto& fields, MaybeConst<SchedExt> auto& value) {
  fields("name", value.name);
  fields("takes_all", value.takes_all);
}

void visit_fields(auto& fields, MaybeConst<StatusView> auto& view) {
  fields("mode", view.mode);
  fields("configured_mode", view.configured_mode);
  fields("degraded", view.degraded);
  fields("nothing_to_balance", view.nothing_to_balance);
  fields("notices", view.notices);
  fields("version", view.version);
  fields("uri", view.uri);
  fields("host_name", view.host_name);
  fields.time("recorded", view.recorded_unix_s);
  fields("epoch", view.epoch);
  fields("epoch_length_ms", view.epoch_length_ms);
  fields("breaker_epochs_left", view.breaker_epochs_left);
  fields("late_ms", view.late_ms,
         Metric{"vmnuma_epoch_late_seconds",
                "Time from when the last epoch was due until it had been measured."});
  fields("late_most_ms", view.late_most_ms,
         Metric{"vmnuma_epoch_late_most_seconds",
                "Longest time from when an epoch was due until it had been measured, since the "
                "daemon was started."});
  fields(
      "imbalance_pct", view.imbalance_pct,
      Metric{"vmnuma_imbalance_ratio",
             "Largest difference between two nodes in owed CPU time relative to their capacity."});
  fields("lost_ms", view.lost_ms);
  fields("nodes", view.nodes, Metric{"vmnuma_nodes", "NUMA nodes of the host."});
  fields("vms", view.vms, Metric{"vmnuma_vms", "Running VMs."});
  fields("clients", view.clients,
         Metric{"vmnuma_clients", "Clients: groups of one VM's vCPUs that live on one node."});
  fields("open_actions", view.open_actions,
         Metric{"vmnuma_open_actions", "Actions begun and not finished."});
  fields("largest_vm", view.largest_vm);
  fields("reservations", view.reservations,
         Metric{"vmnuma_reservations",
                "Reservations: room that is kept for VMs that do not run yet."});
  fields("kernel_numa_balancing", view.kernel_numa_balancing);
  fields("sched_ext", view.sched_ext);
  fields("cache_scheduling", view.cache_scheduling);
  fields("isolated_cpus", view.isolated_cpus);
  fields("wants_wakeups", view.wants_wakeups);
  fields("wakeup_pairs", view.wakeup_pairs,
         Metric{"vmnuma_wakeup_pairs",
                "Pairs of VMs whose wake-ups of each other are counted; absent if none are."});
  fields("forecasts", view.forecasts);
  fields("transfers", view.transfers);
  fields("refused_policies", view.refused_policies);
  fields("admission", view.admission);
  fields("not_admitted", view.not_admitted);
  fields("history", view.history);
}

void visit_fields(auto& fields, MaybeConst<CpuTotalView> auto& view) {
  fields("used_ms", view.used_ms);
  fields("ready_ms", view.ready_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
}

void visit_fields(auto& fields, MaybeConst<HugePagesView> auto& view) {
  fields("page_bytes", view.page_bytes);
  fields("total_bytes", view.total_bytes);
  fields("reserved_bytes", view.reserved_bytes);
  fields("promised_bytes", view.promised_bytes);
  fields("largest_vm_bytes", view.largest_vm_bytes,
         Metric{"vmnuma_node_largest_vm_huge_page_bytes",
                "Memory on huge pages of a size of the largest VM on such pages that would start "
                "on the node."});
}

void visit_fields(auto& fields, MaybeConst<NodeView> auto& view) {
  fields("node", view.node);
  fields("known", view.known, Metric{"vmnuma_node_known", "1 if the node could be read."});
  fields("cores", view.cores, Metric{"vmnuma_node_cores", "Physical cores that VMs may use."});
  fields("cpus", view.cpus, Metric{"vmnuma_node_cpus", "Logical CPUs that VMs may use."});
  fields("distances", view.distances);
  fields("vcpus", view.vcpus,
         Metric{"vmnuma_node_vcpus", "vCPUs that have the node as their home."});
  fields("load_pct", view.load_pct,
         Metric{"vmnuma_node_load_ratio",
                "Load average relative to what processes other than VMs leave; above 1 if clients "
                "want more than that."});
  fields("vm_load_pct", view.vm_load_pct,
         Metric{"vmnuma_node_vm_load_ratio",
                "Share of the whole node that clients want, as a load average."});
  fields("non_vm_pct", view.non_vm_pct,
         Metric{"vmnuma_node_non_vm_ratio",
                "Share of the whole node that processes other than VMs use."});
  fields("capacity_ms", view.capacity_ms);
  fields("non_vm_ms", view.non_vm_ms);
  fields("used_ms", view.used_ms);
  fields("demand_ms", view.demand_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
  fields("memory_bytes", view.memory_bytes,
         Metric{"vmnuma_node_memory_bytes", "Memory of the node."});
  fields("free_bytes", view.free_bytes,
         Metric{"vmnuma_node_memory_free_bytes", "Free memory of the node."});
  fields("reserve_bytes", view.reserve_bytes,
         Metric{"vmnuma_node_memory_reserve_bytes", "Free memory that moves leave alone."});
  fields("promised_vcpus", view.promised_vcpus);
  fields("promised_bytes", view.promised_bytes);
  fields("huge_pages", view.huge_pages);
  fields("largest_vm_vcpus", view.largest_vm_vcpus,
         Metric{"vmnuma_node_largest_vm_vcpus",
                "vCPUs of the largest VM that would start on the node."});
  fields("largest_vm_bytes", view.largest_vm_bytes,
         Metric{"vmnuma_node_largest_vm_memory_bytes",
                "Memory on ordinary pages of the largest VM that would start on the node."});
  fields("reservation_bytes", view.reservation_bytes,
         Metric{"vmnuma_node_reservation_bytes",
                "Memory of the node that is kept for reservations, on pages of any size."});
  fields(
      "capacity_total_ms", view.capacity_total_ms,
      Metric{"vmnuma_node_capacity_cpu_seconds_total", "CPU time the node could give to clients."});
  fields(
      "non_vm_total_ms", view.non_vm_total_ms,
      Metric{"vmnuma_node_non_vm_cpu_seconds_total", "CPU time used by processes other than VMs."});
  fields("total", view.total);
}

void visit_fields(auto& fields, MaybeConst<VmClientView> auto& view) {
  fields("index", view.index);
  fields("vcpus", view.vcpus, Metric{"vmnuma_client_vcpus", "vCPUs of the client."});
  fields("home", view.home);
  fields("home_assumed", view.home_assumed);
  fields("moving", view.moving);
  fields("used_ms", view.used_ms);
  fields("ready_ms", view.ready_ms);
  fields("demand_ms", view.demand_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
  fields("size_bytes", view.size_bytes);
  fields("memory_bytes", view.memory_bytes);
  fields("locality_pct", view.locality_pct,
         Metric{"vmnuma_client_locality_ratio",
                "Share of the client's memory that lies on its home node."});
  fields("moves", view.moves,
         Metric{"vmnuma_client_moves_total",
                "Moves of the client from node to node, since its VM was first seen."});
  fields("total", view.total);
}

void visit_fields(auto& fields, MaybeConst<AdviceView> auto& view) {
  fields("kind", view.kind);
  fields("text", view.text);
  fields("calls_for_change", view.calls_for_change);
}

void visit_fields(auto& fields, MaybeConst<VmView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("weight", view.weight, Metric{"vmnuma_vm_weight", "The VM's cpu.weight."});
  fields("managed", view.managed,
         Metric{"vmnuma_vm_managed", "0 if the VM is left alone at present."});
  fields("not_managed", view.not_managed);
  fields("transferring", view.transferring);
  for (const VmFigureInfo& info : kVmFigures) {
    fields(info.name, view.figures.*info.value,
           Metric{info.metric, info.metric_help, info.metric_label, info.metric_marked});
  }
  fields("pci_devices", view.pci_devices);
  fields("advice", view.advice);
  fields("owner", view.owner);
  fields("clients", view.clients);
}

void visit_fields(auto& fields, MaybeConst<ActionCountView> auto& view) {
  fields("reason", view.reason);
  fields("state", view.state);
  fields("count", view.count);
}

void visit_fields(auto& fields, MaybeConst<HostView> auto& view) {
  fields("epoch", view.epoch, Metric{"vmnuma_epochs_total", "Epochs the daemon has measured."});
  fields("epoch_length_ms", view.epoch_length_ms,
         Metric{"vmnuma_epoch_length_seconds", "Length of the last epoch."});
  fields("lost_total_ms", view.lost_total_ms,
         Metric{"vmnuma_lost_cpu_seconds_total",
                "CPU time, as that of one core, that the host lost to waiting and to remote "
                "memory."});
  fields("moved_bytes", view.moved_bytes,
         Metric{"vmnuma_migrated_bytes_total",
                "Memory moved between nodes by actions that have ended."});
  fields("actions", view.actions);
  fields("vms_known", view.vms_known);
  fields("distances_measured", view.distances_measured);
  fields("admission", view.admission);
  fields("host_name", view.host_name);
  fields("epoch_period_ms", view.epoch_period_ms,
         Metric{"vmnuma_epoch_period_seconds",
                "Time from the start of one epoch to that of the next."});
  fields("breaker_epochs_left", view.breaker_epochs_left,
         Metric{"vmnuma_breaker_epochs_left",
                "Epochs until moves are made again after too many failed or did harm; 0 if they "
                "are made."});
  fields("nodes", view.nodes);
  fields("vms", view.vms);
}

void visit_fields(auto& fields, MaybeConst<VmMemoryView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("memory_class", view.memory_class);
  fields("known", view.known);
  fields("size_bytes", view.size_bytes);
  fields("anonymous_bytes", view.anonymous_bytes);
  fields("shared_bytes", view.shared_bytes);
  fields("file_bytes", view.file_bytes);
  fields("unevictable_bytes", view.unevictable_bytes);
  fields("swap_bytes", view.swap_bytes);
  fields("node_bytes", view.node_bytes);
  fields("min_bytes", view.min_bytes);
  fields("low_bytes", view.low_bytes);
  fields("high_bytes", view.high_bytes);
  fields("max_bytes", view.max_bytes);
  fields("swap_max_bytes", view.swap_max_bytes);
  fields("waits_some_permille", view.waits_some_permille);
  fields("waits_full_permille", view.waits_full_permille);
  fields("oom_score_adj", view.oom_score_adj);
  fields("not_reclaimable", view.not_reclaimable);
}

void visit_fields(auto& fields, MaybeConst<VictimView> auto& view) {
  fields("vm", view.vm);
  fields("bytes", view.bytes);
  fields("sentence", view.sentence);
}

void visit_fields(auto& fields, MaybeConst<MemoryView> auto& view) {
  fields("enabled", view.enabled);
  fields("memory_bytes", view.memory_bytes);
  fields("swap_bytes", view.swap_bytes);
  fields("protection_inherited", view.protection_inherited);
  fields("nodes", view.nodes);
  fields("vms", view.vms);
  fields("reclaimed_first", view.reclaimed_first);
  fields("killed_first", view.killed_first);
}

void visit_fields(auto& fields, MaybeConst<ClientView> auto& view) {
  fields("index", view.index);
  fields("vcpus", view.vcpus);
  fields("home", view.home);
  fields("allowed", view.allowed);
  fields("why", view.why);
  fields("cpus", view.cpus);
  fields("spills_to", view.spills_to);
  fields("spill_saves_ms", view.spill_saves_ms);
  fields("no_own_cores", view.no_own_cores);
  fields("since_epochs", view.since_epochs);
  fields("used_ms", view.used_ms);
  fields("ready_ms", view.ready_ms);
  fields("demand_ms", view.demand_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
  fields("memory_bytes", view.memory_bytes);
  fields("locality_pct", view.locality_pct);
}

void visit_fields(auto& fields, MaybeConst<CandidateView> auto& view) {
  fields("action", view.action);
  fields("client", view.client);
  fields("from", view.from);
  fields("to", view.to);
  fields("partner", view.partner);
  fields("gain_ms", view.gain_ms);
  fields("guard", view.guard);
  fields("sentence", view.sentence);
}

void visit_fields(auto& fields, MaybeConst<PolicyKeyView> auto& view) {
  fields("name", view.name);
  fields("value", view.value);
  fields("default", view.default_value);
  fields("origin", view.origin);
  fields("allowed", view.allowed);
  fields("help", view.help);
}

void visit_fields(auto& fields, MaybeConst<PolicyView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("metadata_wins", view.metadata_wins);
  fields("refused", view.refused);
  fields("keys", view.keys);
}

void visit_fields(auto& fields, MaybeConst<TalkView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("wakeups_per_second", view.wakeups_per_second);
  fields("same_node_pct", view.same_node_pct);
}

void visit_fields(auto& fields, MaybeConst<InterruptsView> auto& view) {
  fields("numbers", view.numbers);
  fields("handler", view.handler);
  fields("cpus", view.cpus);
  fields("node", view.node);
}

void visit_fields(auto& fields, MaybeConst<DeviceView> auto& view) {
  fields("kind", view.kind);
  fields("name", view.name);
  fields("node", view.node);
  fields("interrupts", view.interrupts);
  fields("advice", view.advice);
}

void visit_fields(auto& fields, MaybeConst<ExplainView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("epoch", view.epoch);
  fields("clients", view.clients);
  fields("considered", view.considered);
  fields("memory", view.memory);
  fields("topology", view.topology);
  fields("talks", view.talks);
  fields("devices", view.devices);
  fields("policy", view.policy);
}

void visit_fields(auto& fields, MaybeConst<PredictionView> auto& view) {
  fields("lost_before_ms", view.lost_before_ms);
  fields("lost_after_ms", view.lost_after_ms);
  fields("imbalance_before_pct", view.imbalance_before_pct);
  fields("imbalance_after_pct", view.imbalance_after_pct);
  fields("locality_before_pct", view.locality_before_pct);
  fields("locality_after_pct", view.locality_after_pct);
  fields("cost_ms", view.cost_ms);
}

void visit_fields(auto& fields, MaybeConst<OutcomeView> auto& view) {
  fields("lost_before_ms", view.lost_before_ms);
  fields("lost_after_ms", view.lost_after_ms);
  fields("imbalance_before_pct", view.imbalance_before_pct);
  fields("imbalance_after_pct", view.imbalance_after_pct);
  fields("locality_before_pct", view.locality_before_pct);
  fields("locality_after_pct", view.locality_after_pct);
  fields("moved_bytes", view.moved_bytes);
  fields("took_ms", view.took_ms);
}

void visit_fields(auto& fields, MaybeConst<HistoryRowView> auto& view) {
  fields("action", view.action);
  fields.time("time", view.time_unix_s);
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("client", view.client);
  fields("reason", view.reason);
  fields("from", view.from);
  fields("to", view.to);
  fields("spills_to", view.spills_to);
  fields("predicted", view.predicted);
  fields("outcome", view.outcome);
  fields("state", view.state);
  fields("detail", view.detail);
}

void visit_fields(auto& fields, MaybeConst<HistoryView> auto& view) {
  fields("moves", view.moves);
  fields("truncated", view.truncated);
}

void visit_fields(auto& fields, MaybeConst<EventView> auto& view) {
  fields("number", view.number);
  fields.time("time", view.time_unix_s);
  fields("level", view.level);
  fields("message", view.message);
  fields("vms", view.vms);
  fields("action", view.action);
  fields("reason", view.reason);
}

void visit_fields(auto& fields, MaybeConst<EventsView> auto& view) {
  fields("events", view.events);
  fields("last", view.last);
  fields("truncated", view.truncated);
}

void visit_fields(auto& fields, MaybeConst<RelocationView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("client", view.client);
  fields("from", view.from);
  fields("to", view.to);
  fields("memory_bytes", view.memory_bytes);
  fields("spills_to", view.spills_to);
}

void visit_fields(auto& fields, MaybeConst<ActionView> auto& view) {
  fields("reason", view.reason);
  fields("relocations", view.relocations);
  fields("predicted", view.predicted);
  fields("sentence", view.sentence);
}

void visit_fields(auto& fields, MaybeConst<RejectionView> auto& view) {
  fields("vm", view.vm);
  visit_fields(fields, view.candidate);  // its fields are beside the others, not nested
}

void visit_fields(auto& fields, MaybeConst<PlanView> auto& view) {
  fields("epoch", view.epoch);
  fields("mode", view.mode);
  fields("lost_ms", view.lost_ms);
  fields("imbalance_pct", view.imbalance_pct);
  fields("actions", view.actions);
  fields("rejections", view.rejections);
}

void visit_fields(auto& fields, MaybeConst<OptionView> auto& view) {
  fields("name", view.name);
  fields("unit", view.unit);
  fields("value", view.value);
  fields("default", view.default_value);
  fields("min", view.smallest);
  fields("max", view.largest);
  fields("origin", view.origin);
  fields("from_esxi", view.from_esxi);
  fields("help", view.help);
}

void visit_fields(auto& fields, MaybeConst<OptionsView> auto& view) {
  fields("options", view.options);
}

void visit_fields(auto& fields, MaybeConst<SettingView> auto& view) {
  fields("key", view.key);
  fields("value", view.value);
  fields("origin", view.origin);
}

void visit_fields(auto& fields, MaybeConst<ConfigView> auto& view) {
  fields("settings", view.settings);
  fields("notices", view.notices);
}

void visit_fields(auto& fields, MaybeConst<StandingView> auto& view) {
  fields("lost_ms", view.lost_ms);
  fields("imbalance_pct", view.imbalance_pct);
  fields("locality_pct", view.locality_pct);
}

void visit_fields(auto& fields, MaybeConst<NodeChoiceView> auto& view) {
  fields("node", view.node);
  fields("fits", view.fits);
  fields("load_pct", view.load_pct);
  fields("room_bytes", view.room_bytes);
}

void visit_fields(auto& fields, MaybeConst<NewHomeView> auto& view) {
  fields("vm", view.vm);
  fields("client", view.client);
  fields("vcpus", view.vcpus);
  fields("home", view.home);
  fields("memory_bytes", view.memory_bytes);
  fields("elsewhere_bytes", view.elsewhere_bytes);
  fields("considered", view.considered);
}

void visit_fields(auto& fields, MaybeConst<WhatIfView> auto& view) {
  fields("epoch", view.epoch);
  fields("before", view.before);
  fields("after", view.after);
  fields("homes", view.homes);
  fields("plan", view.plan);
  fields("notes", view.notes);
}

void visit_fields(auto& fields, MaybeConst<StateView> auto& view) {
  fields("line", view.line);
}

void visit_fields(auto& fields, MaybeConst<RecordingView> auto& view) {
  fields("recording", view.recording);
  fields("lines", view.lines);
  fields("more", view.more);
  fields("epochs", view.epochs);
  fields("complete", view.complete);
  fields("ended", view.ended);
}

void visit_fields(auto& fields, MaybeConst<ReservedMemoryView> auto& view) {
  fields("node", view.node);
  fields("page_bytes", view.page_bytes);
  fields("memory_bytes", view.memory_bytes);
}

void visit_fields(auto& fields, MaybeConst<SharedPartView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("vcpus", view.vcpus);
  fields("memory", view.memory);
}

void visit_fields(auto& fields, MaybeConst<ReservationView> auto& view) {
  fields("name", view.name);
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("group", view.group);
  fields("vcpus", view.vcpus);
  fields("homes", view.homes);
  fields("memory", view.memory);
  fields.time("until", view.until_unix_s);
  fields("served", view.served);
  fields("owner", view.owner);
  fields("shared", view.shared);
  fields("taken", view.taken);
  fields("lasting", view.lasting);
}

void visit_fields(auto& fields, MaybeConst<ReservationsView> auto& view) {
  fields("reservations", view.reservations);
}

void visit_fields(auto& fields, MaybeConst<ReservationEventView> auto& view) {
  fields.time("time", view.time_unix_s);
  fields("reservation", view.reservation);
  fields("what", view.what);
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("memory_bytes", view.memory_bytes);
  fields("detail", view.detail);
}

void visit_fields(auto& fields, MaybeConst<ReservationHistoryView> auto& view) {
  fields("events", view.events);
  fields("truncated", view.truncated);
}

void visit_fields(auto& fields, MaybeConst<SuggestView> auto& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("nodes", view.nodes);
}

void visit_fields(auto& fields, MaybeConst<AnnouncedView> auto& view) {
  fields("message", view.message);
  fields("ask_again_ms", view.ask_again_ms);
  fields("at_most_ms", view.at_most_ms);
}

void visit_fields(auto& fields, MaybeConst<DoneView> auto& view) {
  fields("message", view.message);
  fields("action", view.action);
}

}  // namespace vmnuma::balancer
