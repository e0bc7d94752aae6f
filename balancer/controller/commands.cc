// SPDX-License-Identifier: Apache-2.0
// The controller's answers to the control socket. `history` is not among them: it is answered from
// the database.
#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/host_view.h"
#include "balancer/controller/reports.h"
#include "balancer/controller/views.h"
#include "balancer/core/guards.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::kNoNode;
using placement::NodeIndex;
using placement::VmState;

namespace {

std::string_view or_none(std::string_view text) {
  return text.empty() ? "nothing yet" : text;
}

OptionView option_view(const placement::OptionInfo& info, const placement::Options& options,
                       const std::map<std::string, Origin>& origins) {
  const placement::Options defaults;
  OptionView view;
  view.name = info.name;
  view.unit = info.unit;
  view.value = options.*(info.value);
  view.default_value = defaults.*(info.value);
  view.smallest = info.smallest;
  view.largest = info.largest;
  const auto origin = origins.find(view.name);
  view.origin = origin == origins.end() ? Origin{} : origin->second;
  view.from_esxi = info.from_esxi;
  view.help = info.help;
  return view;
}

Result<OptionView> one_option(const std::string& name, const placement::Options& options,
                              const std::map<std::string, Origin>& origins) {
  if (const placement::OptionInfo* info = placement::find_option(name); info != nullptr) {
    return option_view(*info, options, origins);
  }
  placement::Options scratch = options;
  // Refused for the name alone, with the nearest one.
  return tl::unexpected(placement::set_option(scratch, name, 0).error());
}

tl::unexpected<Error> not_answered(const Command& command) {
  return failure(ErrorCode::kUnsupported,
                 fmt::format("'{}' is not answered by this version", name_of(command)));
}

}  // namespace

void Controller::handle(const CommandReceived& event, Effects& effects) {
  if (const auto* set = std::get_if<SetRequest>(&event.command)) {
    if (Result<PolicyWrite> write = write_policy(*set)) {
      write->token = event.token;
      effects.policies.push_back(std::move(*write));  // answered when it has been written
    } else {
      effects.replies.push_back({event.token, tl::unexpected(std::move(write).error())});
    }
    return;
  }
  // In two steps: a change adds effects itself.
  Result<Answer> reply =
      changes_something(event.command) ? change(event.command, effects) : answer(event.command);
  effects.replies.push_back({event.token, std::move(reply)});
}

Result<const VmRecord*> Controller::find_vm(const std::string& name_or_uuid) const {
  // A VM may be named like the UUID of another.
  if (const Result<placement::VmId> id = placement::parse_vm_id(name_or_uuid)) {
    if (const VmRecord* vm = ledger_.find(*id)) {
      return vm;
    }
  }
  std::vector<std::string_view> names;
  for (const auto& [id, vm] : ledger_.vms()) {
    if (vm.description.name == name_or_uuid) {
      return &vm;
    }
    names.push_back(vm.description.name);
  }
  const std::string_view nearest = placement::nearest_name(name_or_uuid, names);
  return failure(ErrorCode::kNotFound,
                 fmt::format("there is no running VM '{}'{}", name_or_uuid,
                             nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

Result<Answer> Controller::answer(const Command& question) const {
  if (std::holds_alternative<StatusRequest>(question)) {
    return Answer(status());
  }
  if (std::holds_alternative<HostRequest>(question)) {
    return Answer(host());
  }
  if (std::holds_alternative<MemoryRequest>(question)) {
    return Answer(memory_view(ledger_, host_memory_));
  }
  if (const auto* request = std::get_if<StatsRequest>(&question)) {
    return make_report(request->type, {snapshot_, ledger_, stays_, transfers_, narrow_})
        .map([](stats::Report report) { return Answer(std::move(report)); });
  }
  if (const auto* request = std::get_if<ExplainRequest>(&question)) {
    return explain(*request);
  }
  if (std::holds_alternative<PlanRequest>(question)) {
    return Answer(plan_view(snapshot_, plan_, setup_.options, mode()));
  }
  if (std::holds_alternative<OptionsListRequest>(question)) {
    OptionsView view;
    for (const placement::OptionInfo& info : placement::option_table()) {
      view.options.push_back(option_view(info, setup_.options, setup_.origins));
    }
    return Answer(std::move(view));
  }
  if (const auto* request = std::get_if<OptionsGetRequest>(&question)) {
    return one_option(request->name, setup_.options, setup_.origins).map([](OptionView view) {
      return Answer(std::move(view));
    });
  }
  if (const auto* request = std::get_if<WhatIfRequest>(&question)) {
    return what_if(*request);
  }
  if (const auto* request = std::get_if<PolicyRequest>(&question)) {
    return policy(*request);
  }
  return not_answered(question);
}

Result<Answer> Controller::change(const Command& command, Effects& effects) {
  if (std::holds_alternative<PauseRequest>(command)) {
    effects.pause_transfers = true;
    paused_ = true;
    effects.log.push_back({Severity::kNotice, "paused by command", {}});
    return Answer(DoneView{"paused: VMs stay where they are until 'resume'", {}});
  }
  if (std::holds_alternative<ResumeRequest>(command)) {
    effects.pause_transfers = false;
    paused_ = false;
    effects.log.push_back({Severity::kNotice, "resumed by command", {}});
    return Answer(DoneView{fmt::format("resumed, mode is {}", name_of(mode())), {}});
  }
  if (const auto* request = std::get_if<OptionsSetRequest>(&command)) {
    return set_option(*request, effects);
  }
  if (const auto* request = std::get_if<MoveRequest>(&command)) {
    return move(*request, effects);
  }
  if (const auto* request = std::get_if<MoveTogetherRequest>(&command)) {
    return move_together(*request, effects);
  }
  if (const auto* request = std::get_if<ReleaseRequest>(&command)) {
    return release(*request, effects);
  }
  if (const auto* request = std::get_if<ManageRequest>(&command)) {
    return manage(*request, effects);
  }
  if (const auto* request = std::get_if<AnnounceRequest>(&command)) {
    return announce(*request, effects);
  }
  if (const auto* request = std::get_if<WithdrawRequest>(&command)) {
    return withdraw(*request);
  }
  if (const auto* request = std::get_if<SuggestRequest>(&command)) {
    return suggest(*request, effects);
  }
  return not_answered(command);
}

HostView Controller::host() const {
  HostView view = host_view(snapshot_, ledger_, totals_);
  view.vms_known = ledger_.knows_domains();
  view.distances_measured = setup_.measured_memory.has_value();
  view.admission = name_of(admission_now());
  show_promises(view);
  return view;
}

StatusView Controller::status() const {
  StatusView view;
  view.mode = mode();
  view.configured_mode = setup_.mode;
  for (const auto& [source, state] : missing_) {
    view.degraded.push_back({source, state.reason, state.since_unix_s});
  }
  view.nothing_to_balance = nothing_to_balance(setup_.topology);
  view.version = setup_.version;
  view.uri = setup_.uri;
  view.epoch = snapshot_.epoch;
  view.epoch_length_ms = epoch_length_ms(snapshot_, setup_.options);
  if (snapshot_.epoch > 0) {
    view.late_ms = late_.value / 1000;
    view.late_most_ms = late_most_.value / 1000;
  }
  if (is_measured(snapshot_)) {
    view.imbalance_pct = percent(measure(snapshot_, setup_.options).imbalance);
    view.lost_ms = (plan_.lost.value + 500) / 1000;
  }
  view.notices = setup_.notices;
  view.nodes = static_cast<std::int64_t>(snapshot_.topology.nodes.size());
  if (ledger_.knows_domains()) {
    view.vms = static_cast<std::int64_t>(ledger_.vms().size());
    std::int64_t clients = 0;
    for (const auto& [id, vm] : ledger_.vms()) {
      clients += static_cast<std::int64_t>(vm.clients.size());
    }
    view.clients = clients;
  }
  for (const auto& [id, reason] : refused_) {
    const VmRecord* vm = ledger_.find(id);
    view.refused_policies.push_back(
        {vm == nullptr ? "" : vm->description.name, to_text(id), reason});
  }
  view.admission = name_of(admission_now());
  view.not_admitted = not_admitted_;
  view.open_actions = static_cast<std::int64_t>(under_way_.size()) + memory_steering_.under_way();
  view.kernel_numa_balancing = kernel_numa_balancing_;
  view.wants_wakeups = setup_.options.locality_weight_action_affinity > 0;
  view.wakeup_pairs = wakeup_pairs_;
  const auto [trained, histogram, last_maximum] = ledger_.forecasts_by();
  view.forecasts = {trained, histogram, last_maximum};
  view.transfers = transfer_views(snapshot_, transfers_);
  for (TransferView& transfer : view.transfers) {
    if (const auto action = under_way_.find(transfer.action); action != under_way_.end()) {
      transfer.reason = name_of(action->second.action.reason);
    }
    if (paused_) {
      transfer.state = "paused";
    } else if (memory_pressure_) {
      transfer.state = "waiting";
    }
    if (transfer.state != "running") {
      transfer.seconds_left.reset();
    }
  }
  const auto history = missing_.find("history");
  view.history = {setup_.history_path, history != missing_.end() ? history->second.reason
                                       : setup_.history_notice.empty()
                                           ? "ok"
                                           : "ok; " + setup_.history_notice};
  return view;
}

Result<Answer> Controller::explain(const ExplainRequest& request) const {
  const Result<const VmRecord*> vm = find_vm(request.vm);
  if (!vm) {
    return tl::unexpected(vm.error());
  }
  const auto state =
      std::find_if(snapshot_.vms.begin(), snapshot_.vms.end(),
                   [&](const VmState& entry) { return entry.id == (*vm)->description.id; });
  if (state == snapshot_.vms.end()) {
    return failure(
        ErrorCode::kBusy,
        fmt::format("VM '{}' was only just seen, ask again after the next epoch", request.vm));
  }
  std::vector<std::string> why;
  for (std::size_t index = 0; index < state->client_count; ++index) {
    const auto known = why_here_.find({state->id, static_cast<std::int32_t>(index)});
    why.emplace_back(known != why_here_.end() ? known->second
                     : snapshot_.clients[state->first_client + index].home == kNoNode
                         ? fmt::format("it has no home: {}", or_none(state->stale_because))
                         : "");
  }
  ExplainView view = explain_view(
      snapshot_, static_cast<std::size_t>(state - snapshot_.vms.begin()), setup_.options, why);
  view.topology = topology_text(snapshot_, static_cast<std::size_t>(state - snapshot_.vms.begin()),
                                (*vm)->description);
  view.policy = policy_view(**vm);
  view.devices = device_views((*vm)->description);
  if (state->fresh) {
    view.memory += "; " + far_memory_text();
  }
  explain_cpus(view, state->id);
  return Answer(std::move(view));
}

/// With `persist` it has been kept for the next start already.
Result<Answer> Controller::set_option(const OptionsSetRequest& request, Effects& effects) {
  placement::Options options = setup_.options;
  if (Result<void> set = placement::set_option(options, request.name, request.value); !set) {
    return tl::unexpected(std::move(set).error());
  }
  setup_.options = options;
  setup_.origins[request.name] = request.persist ? Origin::kPersisted : Origin::kRuntime;
  const Groups before = groups();
  ledger_.set_options(options);
  note_regrouped(before);
  effects.options = options;
  effects.log.push_back({Severity::kNotice,
                         fmt::format("{} set to {} by command{}", request.name, request.value,
                                     request.persist ? ", also after the next start" : ""),
                         {}});
  return Answer(DoneView{fmt::format("{} = {}", request.name, request.value), {}});
}

}  // namespace vmnuma::balancer
