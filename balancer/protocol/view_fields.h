// SPDX-License-Identifier: Apache-2.0
/// The fields of each view with their names in JSON, listed once for reading and writing. Internal
/// to this folder.
///
/// `fields(NAME, value)` for a field, `fields.time(NAME, unix_s)` for a time of day.
#pragma once

#include <concepts>
#include <type_traits>

#include "balancer/model/view.h"

namespace vmnuma::balancer {

/// T itself when reading, const T when writing.
template <class Value, class T>
concept MaybeConst = std::same_as<std::remove_const_t<Value>, T>;

template <class Fields, MaybeConst<DegradedView> T>
void visit_fields(Fields& fields, T& view) {
  fields("source", view.source);
  fields("reason", view.reason);
  fields.time("since", view.since_unix_s);
}

template <class Fields, MaybeConst<TransferView> T>
void visit_fields(Fields& fields, T& view) {
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
}

template <class Fields, MaybeConst<HistoryStateView> T>
void visit_fields(Fields& fields, T& view) {
  fields("path", view.path);
  fields("state", view.state);
}

template <class Fields, MaybeConst<RefusedPolicyView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("reason", view.reason);
}

template <class Fields, MaybeConst<NotAdmittedView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("refused", view.refused);
  fields("reason", view.reason);
  fields.time("time", view.time_unix_s);
}

template <class Fields, MaybeConst<ForecastsView> T>
void visit_fields(Fields& fields, T& view) {
  fields("trained", view.trained);
  fields("histogram", view.histogram);
  fields("last_maximum", view.last_maximum);
}

template <class Fields, MaybeConst<StatusView> T>
void visit_fields(Fields& fields, T& view) {
  fields("mode", view.mode);
  fields("configured_mode", view.configured_mode);
  fields("degraded", view.degraded);
  fields("nothing_to_balance", view.nothing_to_balance);
  fields("notices", view.notices);
  fields("version", view.version);
  fields("uri", view.uri);
  fields("epoch", view.epoch);
  fields("epoch_length_ms", view.epoch_length_ms);
  fields("late_ms", view.late_ms);
  fields("late_most_ms", view.late_most_ms);
  fields("imbalance_pct", view.imbalance_pct);
  fields("lost_ms", view.lost_ms);
  fields("nodes", view.nodes);
  fields("vms", view.vms);
  fields("clients", view.clients);
  fields("open_actions", view.open_actions);
  fields("kernel_numa_balancing", view.kernel_numa_balancing);
  fields("wants_wakeups", view.wants_wakeups);
  fields("wakeup_pairs", view.wakeup_pairs);
  fields("forecasts", view.forecasts);
  fields("transfers", view.transfers);
  fields("refused_policies", view.refused_policies);
  fields("admission", view.admission);
  fields("not_admitted", view.not_admitted);
  fields("history", view.history);
}

template <class Fields, MaybeConst<CpuTotalView> T>
void visit_fields(Fields& fields, T& view) {
  fields("used_ms", view.used_ms);
  fields("ready_ms", view.ready_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
}

template <class Fields, MaybeConst<HugePagesView> T>
void visit_fields(Fields& fields, T& view) {
  fields("page_bytes", view.page_bytes);
  fields("total_bytes", view.total_bytes);
  fields("reserved_bytes", view.reserved_bytes);
  fields("promised_bytes", view.promised_bytes);
}

template <class Fields, MaybeConst<NodeView> T>
void visit_fields(Fields& fields, T& view) {
  fields("node", view.node);
  fields("known", view.known);
  fields("cores", view.cores);
  fields("cpus", view.cpus);
  fields("distances", view.distances);
  fields("vcpus", view.vcpus);
  fields("load_pct", view.load_pct);
  fields("vm_load_pct", view.vm_load_pct);
  fields("non_vm_pct", view.non_vm_pct);
  fields("capacity_ms", view.capacity_ms);
  fields("non_vm_ms", view.non_vm_ms);
  fields("used_ms", view.used_ms);
  fields("demand_ms", view.demand_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
  fields("memory_bytes", view.memory_bytes);
  fields("free_bytes", view.free_bytes);
  fields("reserve_bytes", view.reserve_bytes);
  fields("promised_vcpus", view.promised_vcpus);
  fields("promised_bytes", view.promised_bytes);
  fields("huge_pages", view.huge_pages);
  fields("capacity_total_ms", view.capacity_total_ms);
  fields("non_vm_total_ms", view.non_vm_total_ms);
  fields("total", view.total);
}

template <class Fields, MaybeConst<VmClientView> T>
void visit_fields(Fields& fields, T& view) {
  fields("index", view.index);
  fields("vcpus", view.vcpus);
  fields("home", view.home);
  fields("moving", view.moving);
  fields("used_ms", view.used_ms);
  fields("ready_ms", view.ready_ms);
  fields("demand_ms", view.demand_ms);
  fields("entitled_ms", view.entitled_ms);
  fields("owed_ms", view.owed_ms);
  fields("size_bytes", view.size_bytes);
  fields("memory_bytes", view.memory_bytes);
  fields("locality_pct", view.locality_pct);
  fields("moves", view.moves);
  fields("total", view.total);
}

template <class Fields, MaybeConst<VmView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("weight", view.weight);
  fields("managed", view.managed);
  fields("not_managed", view.not_managed);
  fields("transferring", view.transferring);
  fields("cpu_some_permille", view.cpu_some_permille);
  fields("memory_some_permille", view.memory_some_permille);
  fields("memory_full_permille", view.memory_full_permille);
  fields("pci_devices", view.pci_devices);
  fields("clients", view.clients);
}

template <class Fields, MaybeConst<ActionCountView> T>
void visit_fields(Fields& fields, T& view) {
  fields("reason", view.reason);
  fields("state", view.state);
  fields("count", view.count);
}

template <class Fields, MaybeConst<HostView> T>
void visit_fields(Fields& fields, T& view) {
  fields("epoch", view.epoch);
  fields("epoch_length_ms", view.epoch_length_ms);
  fields("lost_total_ms", view.lost_total_ms);
  fields("moved_bytes", view.moved_bytes);
  fields("actions", view.actions);
  fields("vms_known", view.vms_known);
  fields("distances_measured", view.distances_measured);
  fields("admission", view.admission);
  fields("nodes", view.nodes);
  fields("vms", view.vms);
}

template <class Fields, MaybeConst<VmMemoryView> T>
void visit_fields(Fields& fields, T& view) {
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

template <class Fields, MaybeConst<VictimView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("bytes", view.bytes);
  fields("sentence", view.sentence);
}

template <class Fields, MaybeConst<MemoryView> T>
void visit_fields(Fields& fields, T& view) {
  fields("enabled", view.enabled);
  fields("memory_bytes", view.memory_bytes);
  fields("swap_bytes", view.swap_bytes);
  fields("protection_inherited", view.protection_inherited);
  fields("nodes", view.nodes);
  fields("vms", view.vms);
  fields("reclaimed_first", view.reclaimed_first);
  fields("killed_first", view.killed_first);
}

template <class Fields, MaybeConst<ClientView> T>
void visit_fields(Fields& fields, T& view) {
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

template <class Fields, MaybeConst<CandidateView> T>
void visit_fields(Fields& fields, T& view) {
  fields("action", view.action);
  fields("client", view.client);
  fields("from", view.from);
  fields("to", view.to);
  fields("partner", view.partner);
  fields("gain_ms", view.gain_ms);
  fields("guard", view.guard);
  fields("sentence", view.sentence);
}

template <class Fields, MaybeConst<PolicyKeyView> T>
void visit_fields(Fields& fields, T& view) {
  fields("name", view.name);
  fields("value", view.value);
  fields("default", view.default_value);
  fields("origin", view.origin);
  fields("allowed", view.allowed);
  fields("help", view.help);
}

template <class Fields, MaybeConst<PolicyView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("metadata_wins", view.metadata_wins);
  fields("refused", view.refused);
  fields("keys", view.keys);
}

template <class Fields, MaybeConst<TalkView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("wakeups_per_second", view.wakeups_per_second);
  fields("same_node_pct", view.same_node_pct);
}

template <class Fields, MaybeConst<InterruptsView> T>
void visit_fields(Fields& fields, T& view) {
  fields("numbers", view.numbers);
  fields("handler", view.handler);
  fields("cpus", view.cpus);
  fields("node", view.node);
}

template <class Fields, MaybeConst<DeviceView> T>
void visit_fields(Fields& fields, T& view) {
  fields("kind", view.kind);
  fields("name", view.name);
  fields("node", view.node);
  fields("interrupts", view.interrupts);
  fields("advice", view.advice);
}

template <class Fields, MaybeConst<ExplainView> T>
void visit_fields(Fields& fields, T& view) {
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

template <class Fields, MaybeConst<PredictionView> T>
void visit_fields(Fields& fields, T& view) {
  fields("lost_before_ms", view.lost_before_ms);
  fields("lost_after_ms", view.lost_after_ms);
  fields("imbalance_before_pct", view.imbalance_before_pct);
  fields("imbalance_after_pct", view.imbalance_after_pct);
  fields("locality_before_pct", view.locality_before_pct);
  fields("locality_after_pct", view.locality_after_pct);
  fields("cost_ms", view.cost_ms);
}

template <class Fields, MaybeConst<OutcomeView> T>
void visit_fields(Fields& fields, T& view) {
  fields("lost_before_ms", view.lost_before_ms);
  fields("lost_after_ms", view.lost_after_ms);
  fields("imbalance_before_pct", view.imbalance_before_pct);
  fields("imbalance_after_pct", view.imbalance_after_pct);
  fields("locality_before_pct", view.locality_before_pct);
  fields("locality_after_pct", view.locality_after_pct);
  fields("moved_bytes", view.moved_bytes);
  fields("took_ms", view.took_ms);
}

template <class Fields, MaybeConst<HistoryRowView> T>
void visit_fields(Fields& fields, T& view) {
  fields("action", view.action);
  fields.time("time", view.time_unix_s);
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("client", view.client);
  fields("reason", view.reason);
  fields("from", view.from);
  fields("to", view.to);
  fields("predicted", view.predicted);
  fields("outcome", view.outcome);
  fields("state", view.state);
  fields("detail", view.detail);
}

template <class Fields, MaybeConst<HistoryView> T>
void visit_fields(Fields& fields, T& view) {
  fields("moves", view.moves);
  fields("truncated", view.truncated);
}

template <class Fields, MaybeConst<RelocationView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("client", view.client);
  fields("from", view.from);
  fields("to", view.to);
  fields("memory_bytes", view.memory_bytes);
}

template <class Fields, MaybeConst<ActionView> T>
void visit_fields(Fields& fields, T& view) {
  fields("reason", view.reason);
  fields("relocations", view.relocations);
  fields("predicted", view.predicted);
  fields("sentence", view.sentence);
}

template <class Fields, MaybeConst<RejectionView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  visit_fields(fields, view.candidate);  // beside it, not inside
}

template <class Fields, MaybeConst<PlanView> T>
void visit_fields(Fields& fields, T& view) {
  fields("epoch", view.epoch);
  fields("mode", view.mode);
  fields("lost_ms", view.lost_ms);
  fields("imbalance_pct", view.imbalance_pct);
  fields("actions", view.actions);
  fields("rejections", view.rejections);
}

template <class Fields, MaybeConst<OptionView> T>
void visit_fields(Fields& fields, T& view) {
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

template <class Fields, MaybeConst<OptionsView> T>
void visit_fields(Fields& fields, T& view) {
  fields("options", view.options);
}

template <class Fields, MaybeConst<StandingView> T>
void visit_fields(Fields& fields, T& view) {
  fields("lost_ms", view.lost_ms);
  fields("imbalance_pct", view.imbalance_pct);
  fields("locality_pct", view.locality_pct);
}

template <class Fields, MaybeConst<NodeChoiceView> T>
void visit_fields(Fields& fields, T& view) {
  fields("node", view.node);
  fields("fits", view.fits);
  fields("load_pct", view.load_pct);
  fields("room_bytes", view.room_bytes);
}

template <class Fields, MaybeConst<NewHomeView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("client", view.client);
  fields("vcpus", view.vcpus);
  fields("home", view.home);
  fields("memory_bytes", view.memory_bytes);
  fields("elsewhere_bytes", view.elsewhere_bytes);
  fields("considered", view.considered);
}

template <class Fields, MaybeConst<WhatIfView> T>
void visit_fields(Fields& fields, T& view) {
  fields("epoch", view.epoch);
  fields("before", view.before);
  fields("after", view.after);
  fields("homes", view.homes);
  fields("plan", view.plan);
  fields("notes", view.notes);
}

template <class Fields, MaybeConst<StateView> T>
void visit_fields(Fields& fields, T& view) {
  fields("line", view.line);
}

template <class Fields, MaybeConst<RecordingView> T>
void visit_fields(Fields& fields, T& view) {
  fields("recording", view.recording);
  fields("lines", view.lines);
  fields("more", view.more);
  fields("epochs", view.epochs);
  fields("complete", view.complete);
  fields("ended", view.ended);
}

template <class Fields, MaybeConst<SuggestView> T>
void visit_fields(Fields& fields, T& view) {
  fields("vm", view.vm);
  fields("vm_uuid", view.vm_uuid);
  fields("nodes", view.nodes);
}

template <class Fields, MaybeConst<DoneView> T>
void visit_fields(Fields& fields, T& view) {
  fields("message", view.message);
  fields("action", view.action);
}

}  // namespace vmnuma::balancer
