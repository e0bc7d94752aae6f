// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/external_pinning.h"
#include "balancer/controller/far_memory.h"
#include "balancer/controller/found_pins.h"
#include "balancer/controller/room_making.h"
#include "balancer/controller/views.h"
#include "balancer/controller/vm_policies.h"
#include "balancer/core/guards.h"
#include "placement/advice/warnings.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

std::string_view or_none(std::string_view text) {
  return text.empty() ? "nothing yet" : text;
}

OptionView option_view(const OptionRow& info, const Settings& settings) {
  const Options defaults = options_of(settings.preset);
  OptionView view;
  view.name = info.name;
  view.unit = info.unit;
  view.value = settings.options.*(info.value);
  view.default_value = defaults.*(info.value);
  view.smallest = info.smallest;
  view.largest = info.largest;
  const auto origin = settings.origins.find(view.name);
  view.origin = origin == settings.origins.end() ? Origin{} : origin->second;
  view.from_esxi = info.from_esxi;
  view.help = info.help;
  return view;
}

/// Shows assumed homes: while nothing is ordered, a home that no pins show is an assumption.
void show_assumed_homes(const ControllerState& state, HostView& view) {
  if (state.setup.mode == Mode::kActive || state.ledger.topology().only_home()) {
    return;
  }
  const PinReader reader(state.ledger.topology());
  for (std::size_t i = 0; i < view.vms.size(); ++i) {
    const VmRecord* vm = state.ledger.find(state.last.snapshot.vms[i].id);
    for (VmClientView& client : view.vms[i].clients) {
      const auto index = static_cast<std::size_t>(client.index);
      client.home_assumed =
          client.home.value >= 0 && vm != nullptr && index < vm->clients.size() &&
          reader.state_of(*vm, vm->clients[index], {}).kind == PinState::Kind::kFree;
    }
  }
}

AdmissionMode admission_now(const ControllerState& state) {
  return refuses_starts(state.setup) ? AdmissionMode::kEnforce : AdmissionMode::kAdvise;
}

void explain_cpus(const ControllerState& state, const VmId& id, ExplainView& view) {
  const CpuPins pins = state.cpu_pins({});
  const auto subset = pins.subsets.find(id);
  const std::vector<ClientRecord>& clients = state.ledger.find(id)->clients;
  for (ClientView& client : view.clients) {
    const auto index = static_cast<std::size_t>(client.index);
    if (index >= clients.size()) {
      continue;  // the VM had other clients when it was measured
    }
    const auto home = state.ledger.topology().index_of(client.home);
    if (subset != pins.subsets.end() && index < subset->second.clients.size() && home &&
        subset->second.clients[index] != cpus_of(state.ledger.topology().nodes[*home])) {
      client.cpus = to_list(subset->second.clients[index]);
    }
    client.spills_to = clients[index].spills_to;
    for (const Spill& spill : state.last.plan.spills) {
      if (client.spills_to.value >= 0 && spill.client == ClientId{id, client.index}) {
        client.spill_saves_ms = spill.saves.value / 1000;
      }
    }
    if (const auto refused = pins.refused.find({id, client.index}); refused != pins.refused.end()) {
      client.no_own_cores = refused->second;
    }
  }
}

/// Converts a reply into an answer for the socket.
template <class View>
Result<Answer> as_answer(Result<View> view) {
  return std::move(view).map([](View&& value) { return Answer(std::move(value)); });
}

tl::unexpected<Error> not_answered(std::string_view command) {
  return failure(ErrorCode::kUnsupported,
                 fmt::format("this version does not support '{}'", command));
}

/// Shows problems in the definitions of running VMs; these do not depend on how much is free now.
void show_advice(const ControllerState& state, HostView& view) {
  const AdviceHost host{.topology = state.last.snapshot.topology,
                        .prefer_ht = state.setup.options.prefer_ht != 0};
  for (std::size_t i = 0; i < view.vms.size(); ++i) {
    const VmRecord* vm = state.ledger.find(state.last.snapshot.vms[i].id);
    if (vm == nullptr) {
      continue;
    }
    for (AdviceWarned& warned : warnings_about(vm->description, host)) {
      view.vms[i].advice.push_back({std::string(name_of(warned.kind)), std::move(warned.text),
                                    calls_for_change(warned.kind)});
    }
  }
}

}  // namespace

Result<Answer> answer_question(const ControllerState& state, const Command& question) {
  return std::visit(
      [&](const auto& request) -> Result<Answer> {
        if constexpr (requires { reply_to(state, request); }) {
          return as_answer(reply_to(state, request));
        } else {
          return not_answered(request.kCommand);
        }
      },
      question);
}

Result<Answer> carry_out_command(ControllerState& state, const Command& command, Effects& effects) {
  return std::visit(
      [&](const auto& request) -> Result<Answer> {
        if constexpr (requires { carry_out(state, request, effects); }) {
          return as_answer(carry_out(state, request, effects));
        } else {
          return not_answered(request.kCommand);
        }
      },
      command);
}

// ---- questions ----

Result<PlanView> reply_to(const ControllerState& state, const PlanRequest& /*request*/) {
  return plan_view(state.last.snapshot, state.last.plan, state.setup.options, state.mode());
}

Result<OptionsView> reply_to(const ControllerState& state, const OptionsListRequest& /*request*/) {
  OptionsView view;
  for (const OptionRow& info : option_table()) {
    view.options.push_back(option_view(info, state.setup));
  }
  return view;
}

Result<OptionView> reply_to(const ControllerState& state, const OptionsGetRequest& request) {
  if (const OptionRow* info = find_option(request.name); info != nullptr) {
    return option_view(*info, state.setup);
  }
  Options scratch = state.setup.options;
  // This fails because of the name alone; the error names the closest match.
  return tl::unexpected(set_option(scratch, request.name, 0).error());
}

Result<PolicyView> reply_to(const ControllerState& state, const PolicyRequest& request) {
  return state.find_vm(request.vm).map([&](const VmRecord* vm) {
    return policy_view(state.setup, state.running, *vm, state.vms.of(vm->description.id));
  });
}

std::int64_t breaker_epochs_left(const ControllerState& state) {
  return std::max<std::int64_t>(state.outcomes.rests_until() - state.last.snapshot.epoch, 0);
}

Result<HostView> reply_to(const ControllerState& state, const HostRequest& /*request*/) {
  HostView view = host_view(state.last.snapshot, state.ledger, state.figures.totals);
  show_assumed_homes(state, view);
  view.vms_known = state.ledger.knows_domains();
  view.distances_measured = state.setup.measured_memory.has_value();
  view.admission = name_of(admission_now(state));
  view.host_name = state.setup.host_name;
  view.epoch_period_ms = state.setup.options.rebalance_period;
  view.breaker_epochs_left = breaker_epochs_left(state);
  const HostNow now = state.host_now();
  state.starts.show_promises(now, view);
  state.starts.show_largest(now, view);
  show_advice(state, view);
  return view;
}

Result<StatusView> reply_to(const ControllerState& state, const StatusRequest& /*request*/) {
  const Snapshot& snapshot = state.last.snapshot;
  const auto& missing = state.health.missing();
  StatusView view;
  view.mode = state.mode();
  view.configured_mode = state.setup.mode;
  for (const auto& [source, known] : missing) {
    view.degraded.push_back({source, known.reason, known.since_unix_s});
  }
  view.nothing_to_balance = nothing_to_balance(state.setup.topology);
  view.version = state.setup.version;
  view.uri = state.setup.uri;
  view.host_name = state.setup.host_name;
  view.epoch = snapshot.epoch;
  view.epoch_length_ms = state.setup.options.rebalance_period;
  view.breaker_epochs_left = breaker_epochs_left(state);
  if (snapshot.epoch > 0) {
    view.late_ms = state.last.late.value / 1000;
    view.late_most_ms = state.last.late_most.value / 1000;
  }
  if (is_measured(snapshot)) {
    view.imbalance_pct = percent(measure(snapshot, state.setup.options).imbalance);
    view.lost_ms = (state.last.plan.lost.value + 500) / 1000;
  }
  view.notices = state.setup.notices;
  view.nodes = static_cast<std::int64_t>(snapshot.topology.nodes.size());
  if (state.ledger.knows_domains()) {
    view.vms = static_cast<std::int64_t>(state.ledger.vms().size());
    std::int64_t clients = 0;
    for (const auto& [id, vm] : state.ledger.vms()) {
      clients += static_cast<std::int64_t>(vm.clients.size());
    }
    view.clients = clients;
  }
  for (const auto& [id, reason] : state.vms.each(&ManagedVm::refused_policy)) {
    const VmRecord* vm = state.ledger.find(id);
    view.refused_policies.push_back(
        {vm == nullptr ? "" : vm->description.name, to_text(id), reason});
  }
  view.admission = name_of(admission_now(state));
  view.not_admitted = state.starts.not_admitted();
  view.open_actions = static_cast<std::int64_t>(state.orders.count()) + state.memory.under_way();
  view.largest_vm = state.starts.largest_vm(state.host_now());
  view.reservations = static_cast<std::int64_t>(state.reservations.all().size());
  view.kernel_numa_balancing = state.last.kernel_numa_balancing;
  view.sched_ext = state.last.sched_ext;
  view.cache_scheduling = state.last.cache_scheduling;
  for (const Node& node : snapshot.topology.nodes) {
    view.isolated_cpus.insert(view.isolated_cpus.end(), node.isolated_cpus.begin(),
                              node.isolated_cpus.end());
  }
  std::ranges::sort(view.isolated_cpus);
  view.wants_wakeups = state.setup.options.locality_weight_action_affinity > 0;
  view.wakeup_pairs = state.last.wakeup_pairs;
  const auto [trained, histogram, last_maximum] = state.ledger.forecasts_by();
  view.forecasts = {trained, histogram, last_maximum};
  view.transfers = transfer_views(snapshot, state.last.transfers);
  for (TransferView& transfer : view.transfers) {
    if (const UnderWay* order = state.orders.find(transfer.action)) {
      transfer.reason = name_of(order->action.reason);
      const auto its_first =
          std::ranges::find(order->action.relocations, transfer.vm_uuid,
                            [](const Relocation& moves) { return to_text(moves.client.vm); });
      transfer.client = its_first != order->action.relocations.end() ? its_first->client.index : 0;
    }
    if (state.health.is_paused()) {
      transfer.state = "paused";
    } else if (state.pressure.is_high()) {
      transfer.state = "waiting";
    }
    if (transfer.state != "running") {
      transfer.seconds_left.reset();
    }
  }
  const auto history = missing.find("history");
  view.history = {state.setup.history_path, history != missing.end() ? history->second.reason
                                            : state.setup.history_notice.empty()
                                                ? "ok"
                                                : "ok; " + state.setup.history_notice};
  return view;
}

Result<ExplainView> reply_to(const ControllerState& state, const ExplainRequest& request) {
  const Snapshot& snapshot = state.last.snapshot;
  VMNUMA_ASSIGN_OR_RETURN(const auto vm, state.find_vm(request.vm));
  const VmState* const found = find_vm(snapshot, vm->description.id);
  if (found == nullptr) {
    return failure(ErrorCode::kBusy,
                   fmt::format("VM '{}' has not been measured yet, ask again after the next epoch",
                               request.vm));
  }
  const auto place = static_cast<std::size_t>(found - snapshot.vms.data());
  const ManagedVm& managed = state.vms.of(found->id);
  const std::map<std::int32_t, std::string>& why_here = managed.why_here;
  std::vector<std::string> why;
  for (std::size_t index = 0; index < found->client_count; ++index) {
    const auto known = why_here.find(static_cast<std::int32_t>(index));
    why.emplace_back(known != why_here.end() ? known->second
                     : snapshot.clients[found->first_client + index].home == kNoNode
                         ? fmt::format("it has no home: {}", or_none(found->stale_because))
                         : "");
    if (!managed.room_made.empty()) {
      why.back() += (why.back().empty() ? "" : "; ") + managed.room_made;
    }
  }
  ExplainView view = explain_view(snapshot, place, state.setup.options, why);
  view.topology = topology_text(snapshot, place, vm->description);
  if (const std::string unkept = unkept_limit_text(snapshot, *found); !unkept.empty()) {
    view.topology += (view.topology.empty() ? "" : "; ") + unkept;
  }
  view.policy = policy_view(state.setup, state.running, *vm, state.vms.of(found->id));
  view.devices = device_views(vm->description);
  if (found->fresh) {
    view.memory +=
        "; " + far_memory_text(state.setup.measured_memory, state.setup, found->counted_stall);
  }
  explain_cpus(state, found->id, view);
  return view;
}

// ---- changes ----

Result<DoneView> carry_out(ControllerState& state, const PauseRequest& /*request*/,
                           Effects& effects) {
  effects.pause_transfers = true;
  state.health.set_paused(true);
  effects.say(Severity::kNotice, "paused by command");
  return DoneView{"paused: VMs stay where they are until 'resume'", {}};
}

Result<DoneView> carry_out(ControllerState& state, const ResumeRequest& /*request*/,
                           Effects& effects) {
  effects.pause_transfers = state.setup.mode != Mode::kActive;
  state.health.set_paused(false);
  effects.say(Severity::kNotice, "resumed by command");
  return DoneView{fmt::format("resumed, mode is {}", name_of(state.mode())), {}};
}

/// With `persist`, the service has already stored the option for the next start.
Result<DoneView> carry_out(ControllerState& state, const OptionsSetRequest& request,
                           Effects& effects) {
  Options options = state.setup.options;
  VMNUMA_RETURN_IF_ERROR(set_option(options, request.name, request.value));
  state.setup.options = options;
  state.setup.origins[request.name] = request.persist ? Origin::kPersisted : Origin::kRuntime;
  const ClientGroups before = client_groups(state.ledger);
  state.options_changed();
  record_regrouped(before, state.ledger, state.last.snapshot.epoch, state.vms);
  effects.options = options;
  effects.say(Severity::kNotice,
              fmt::format("{} set to {} by command{}", request.name, request.value,
                          request.persist ? ", also after the next start" : ""));
  return DoneView{fmt::format("{} = {}", request.name, request.value), {}};
}

Result<AnnouncedView> carry_out(ControllerState& state, const AnnounceRequest& request,
                                Effects& effects) {
  HostNow now = state.host_now();
  const auto may_wait = [&](const HostNow& then, const VmDescription& vm, std::string& why) {
    return wait_for_room(state, then, vm, request.waits_s, why, effects);
  };
  Result<AnnouncedView> view = state.starts.announce(now, request, may_wait, effects);
  state.last.last_placed_on = now.last_placed_on;
  for (StartNotAdmitted& start : effects.not_admitted) {
    start.action = state.orders.take_number();
  }
  if (const auto id = parse_vm_id(request.vm_uuid); id && view && !view->ask_again_ms) {
    end_wait_for_room(state, *id, "it starts", effects);
  }
  return view;
}

Result<DoneView> carry_out(ControllerState& state, const WithdrawRequest& request,
                           Effects& effects) {
  if (const auto id = parse_vm_id(request.vm_uuid)) {
    end_wait_for_room(state, *id, "it does not start", effects);
    if (!state.vms.of(*id).room_made.empty()) {
      state.vms[*id].room_made.clear();
    }
  }
  return state.starts.withdraw(request);
}

Result<SuggestView> carry_out(ControllerState& state, const SuggestRequest& request,
                              Effects& effects) {
  HostNow now = state.host_now();
  Result<SuggestView> view = state.starts.suggest(now, request, effects);
  state.last.last_placed_on = now.last_placed_on;
  return view;
}

}  // namespace vmnuma::balancer
