// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/views.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "balancer/core/spill.h"
#include "placement/alignment.h"
#include "placement/memory_cost.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// Describes the gain of a considered action.
std::string saves_text(CpuTime gain) {
  return gain.value >= 0
             ? fmt::format("would save {} ms of lost time per epoch", milliseconds(gain))
             : fmt::format("would cost another {} ms of lost time per epoch", milliseconds(-gain));
}

/// The other VM of a pair that wake each other; null if `vm` is not in the pair.
const VmState* partner_in(const Snapshot& snapshot, const Chat& chat, const VmId& vm) {
  return chat.a == vm   ? find_vm(snapshot, chat.b)
         : chat.b == vm ? find_vm(snapshot, chat.a)
                        : nullptr;
}

/// " (talks to 'db' there: 48000 wake-ups a second)", naming the VM on that node to which it talks
/// most; empty if there is none.
std::string talk_text(const Snapshot& snapshot, const Relocation& relocation) {
  std::string text;
  WakeupRate most;
  for (const Chat& chat : snapshot.chats) {
    const VmState* partner = partner_in(snapshot, chat, relocation.client.vm);
    const auto lives_there = [&](const ClientState& client) {
      return client.home == relocation.to;
    };
    if (partner != nullptr && chat.rate > most &&
        std::ranges::any_of(clients_of(snapshot, *partner), lives_there)) {
      most = chat.rate;
      text = fmt::format(" (talks to '{}' there: {} wake-ups a second)", partner->name,
                         chat.rate.value);
    }
  }
  return text;
}

/// Of the pairs of clients of the two VMs that have homes, the share on the same node.
Figure same_node_pct(const Snapshot& snapshot, const VmState& a, const VmState& b) {
  std::int64_t pairs = 0;
  std::int64_t together = 0;
  for (const ClientState& one : clients_of(snapshot, a)) {
    for (const ClientState& other : clients_of(snapshot, b)) {
      if (one.home != kNoNode && other.home != kNoNode) {
        ++pairs;
        together += one.home == other.home ? 1 : 0;
      }
    }
  }
  return pairs > 0 ? Figure(percent(permille_of(together, pairs, Permille{}))) : std::nullopt;
}

std::vector<TalkView> talk_views(const Snapshot& snapshot, const VmState& vm) {
  constexpr std::size_t kMost = 5;
  std::vector<TalkView> views;
  for (const Chat& chat : snapshot.chats) {
    if (const VmState* partner = partner_in(snapshot, chat, vm.id); partner != nullptr) {
      views.push_back({partner->name, to_text(partner->id), chat.rate.value,
                       same_node_pct(snapshot, vm, *partner)});
    }
  }
  std::ranges::stable_sort(views, std::ranges::greater{}, &TalkView::wakeups_per_second);
  views.resize(std::min(views.size(), kMost));
  return views;
}

/// guard_text(), extended by what is known of the VM and the host.
std::string stop_text(const Snapshot& snapshot, const VmState* vm, Guard guard,
                      const Options& options) {
  if (guard == Guard::kStaleData && vm != nullptr && !vm->fresh) {
    return vm->stale_because;
  }
  if (guard == Guard::kDoesNotLast && !something_is_forecast(snapshot)) {
    return fmt::format(
        "it would pay with the loads of this epoch, but not with those of recent epochs "
        "(Numa.ShortageHalfLife, {} s)",
        options.shortage_half_life);
  }
  return guard_text(guard, options);
}

}  // namespace

PredictionView prediction_view(std::string_view reason, const Prediction& predicted) {
  const PredictedFigures figures = predicted_figures(reason, predicted.known);
  PredictionView view;
  if (figures.lost_time) {
    view.lost_before_ms = milliseconds(predicted.lost_before);
    view.lost_after_ms = milliseconds(predicted.lost_after);
    view.cost_ms = milliseconds(predicted.cost);
  }
  if (figures.imbalance) {
    view.imbalance_before_pct = percent(predicted.imbalance_before);
    view.imbalance_after_pct = percent(predicted.imbalance_after);
  }
  if (figures.locality_before) {
    view.locality_before_pct = percent(predicted.locality_before);
  }
  if (figures.locality_after) {
    view.locality_after_pct = percent(predicted.locality_after);
  }
  return view;
}

std::int64_t milliseconds(CpuTime time) {
  return (time.value >= 0 ? time.value + 500 : time.value - 500) / 1000;
}

std::int64_t percent(Permille share) {
  return std::clamp<std::int64_t>(share.value / 10, 0, 100);
}

std::string nothing_to_balance(const Topology& topology) {
  if (const std::optional<NodeIndex> only = topology.only_home()) {
    return fmt::format("nothing to balance: only node {} has both memory and CPUs that VMs may use",
                       topology.nodes[*only].id.value);
  }
  return topology.homes().empty()
             ? "nothing to balance: no node has both memory and CPUs that VMs may use"
             : "";
}

Figure percent_if(const std::optional<Permille>& share) {
  return share ? Figure(percent(*share)) : std::nullopt;
}

std::int64_t epoch_length_ms(const Snapshot& snapshot, const Options& options) {
  return snapshot.epoch > 0 ? milliseconds(snapshot.epoch_length) : options.rebalance_period;
}

std::string node_text(const Snapshot& snapshot, NodeIndex node) {
  return node == kNoNode ? "no node" : fmt::format("node {}", snapshot.topology.id_of(node).value);
}

std::string client_text(const Snapshot& snapshot, const ClientId& client) {
  const VmState* vm = find_vm(snapshot, client.vm);
  if (vm == nullptr) {
    return to_text(client.vm);
  }
  return vm->client_count > 1 ? fmt::format("{}/{}", vm->name, client.index) : vm->name;
}

std::string action_text(const Snapshot& snapshot, const Action& action) {
  std::string text;
  for (const Relocation& relocation : action.relocations) {
    if (!text.empty()) {
      text += ", ";
    }
    text += client_text(snapshot, relocation.client);
    if (action.reason == Reason::kCpuAssignment) {
      text += " gets other CPUs of " + node_text(snapshot, relocation.to);
    } else if (action.reason == Reason::kSpill) {
      text += relocation.spills_to == kNoNode
                  ? " runs only on its home " + node_text(snapshot, relocation.to) + " again"
                  : " also runs on CPUs of " + node_text(snapshot, relocation.spills_to) +
                        " beside its home " + node_text(snapshot, relocation.to);
    } else if (relocation.from == relocation.to) {
      text += fmt::format(" migrates {} MiB to its home {}", relocation.memory.value >> 20U,
                          node_text(snapshot, relocation.to));
    } else if (relocation.from == kNoNode) {
      text += " to " + node_text(snapshot, relocation.to);
      if (relocation.spills_to != kNoNode) {
        text +=
            ", and at first on CPUs of " + node_text(snapshot, relocation.spills_to) + " as well";
      }
    } else {
      text += fmt::format(" from {} to {}", node_text(snapshot, relocation.from),
                          node_text(snapshot, relocation.to));
    }
    if (action.reason == Reason::kAffinityMove) {
      text += talk_text(snapshot, relocation);
    }
  }
  const Prediction& predicted = action.predicted;
  text = fmt::format("{}: {}", name_of(action.reason), text);
  if (action.reason == Reason::kSpill && predicted.lost_before == predicted.lost_after) {
    return text;
  }
  if (predicted.known && action.reason != Reason::kInitialPlacement &&
      action.reason != Reason::kMemoryPull && action.reason != Reason::kCpuAssignment) {
    text += fmt::format(
        "; the host then loses {} instead of {} ms per epoch, at a one-time cost of {} ms",
        milliseconds(predicted.lost_after), milliseconds(predicted.lost_before),
        milliseconds(predicted.cost));
  }
  return text;
}

std::string guard_text(Guard guard, const Options& options) {
  switch (guard) {
    case Guard::kMinimumGain:
      return fmt::format(
          "it gains less than Numa.MigThreshold ({} %) of a node's capacity{}, or, if only VMs "
          "that talk gain, of its vCPUs",
          options.mig_threshold,
          options.mig_threshold_cpus == 0
              ? ""
              : fmt::format(" (of {} CPUs at most)", options.mig_threshold_cpus));
    case Guard::kDoesNotPay:
      return fmt::format("the move costs more than it gains within Numa.MoveHorizon ({} epochs)",
                         options.move_horizon);
    case Guard::kDoesNotLast:
      return fmt::format(
          "the gain would not last: the loads forecast for the next ten minutes differ "
          "(Numa.ForecastWeight, {} %)",
          options.forecast_weight);
    case Guard::kResidualImbalance:
      return fmt::format(
          "it would only shift the imbalance: more than Numa.MigThrashThreshold ({} %) of it would "
          "remain, the other way round",
          options.mig_thrash_threshold);
    case Guard::kResidency:
      return fmt::format("it has been on its node for less than Numa.Residency ({} epochs)",
                         options.residency);
    case Guard::kRotationCooldown:
      return fmt::format(
          "its memory, or that of the client that had the last turn there, has not yet rested for "
          "Numa.LTermRestTimes ({}) times as long as its move took",
          options.lterm_rest_times);
    case Guard::kNoReturn:
      return fmt::format("it left that node less than Numa.NoReturn ({} epochs) ago",
                         options.no_return);
    case Guard::kSwapReconsider:
      return fmt::format("it was swapped less than Numa.SwapConsiderPeriod ({} epochs) ago",
                         options.swap_consider_period);
    case Guard::kCoreCapacity:
      return fmt::format(
          "the demand on the node would exceed Numa.CoreCapRatioPct ({} %) of its cores, or the "
          "node would have far more vCPUs per CPU than the host on average",
          options.core_cap_ratio_pct);
    case Guard::kNoRoom:
      return "the node has no room for its memory: too little is free above the reserve, or too "
             "few huge pages are free";
    case Guard::kMemoryStays:
      return "its memory cannot follow";
    case Guard::kDoNotMove:
      return "it is marked do_not_move";
    case Guard::kNotAllowed:
      return "the node is not among those it may use";
    case Guard::kNoFreeCores:
      return "the node has too few free cores for it to have its own";
    case Guard::kAntiAffinity:
      return "a member of its hard anti-affinity group lives there, or the node would have more of "
             "its vCPUs than max_per_node allows";
    case Guard::kStaleData:
      return "it is left alone, or readings of it or of the node are missing";
    case Guard::kMoving:
      return "it is being moved";
    case Guard::kActionLimit:
      return "this epoch already has as many moves as Numa.MigrationsPerEpoch allows";
    case Guard::kLongTermImbalance:
      return "it would raise the long-term imbalance too much";
    case Guard::kBreaker:
      return "recent moves failed or did harm, so the balancer makes none for a while";
    case Guard::kDisabled:
      return "the host has fewer cores than Numa.RebalanceCoresTotal or Numa.RebalanceCoresNode "
             "requires";
    case Guard::kNotBest:
      return "another action is better";
    case Guard::kNotDue:
      return fmt::format(
          "load moves are considered only every {} epochs (Numa.SwapMigrateOnly), and not in this "
          "one",
          options.swap_migrate_only);
    case Guard::kOwedTime:
      return "being near the VMs it talks to is not worth the CPU time that some VM would then be "
             "owed";
    case Guard::kBusierNode:
      return "the node is busier than its own, and VMs that talk are brought together on the less "
             "busy one";
  }
  return "unknown";
}

PlanView plan_view(const Snapshot& snapshot, const Plan& plan, const Options& options, Mode mode) {
  PlanView view;
  view.epoch = plan.epoch;
  view.mode = mode;
  if (is_measured(snapshot)) {
    view.lost_ms = milliseconds(plan.lost);
    view.imbalance_pct = percent(plan.imbalance);
  }
  for (const Action& action : plan.actions) {
    ActionView row;
    row.reason = name_of(action.reason);
    row.predicted = prediction_view(row.reason, action.predicted);
    row.sentence = action_text(snapshot, action);
    for (const Relocation& relocation : action.relocations) {
      const VmState* vm = find_vm(snapshot, relocation.client.vm);
      row.relocations.push_back({vm == nullptr ? "" : vm->name, to_text(relocation.client.vm),
                                 relocation.client.index, snapshot.topology.id_of(relocation.from),
                                 snapshot.topology.id_of(relocation.to), relocation.memory.value,
                                 snapshot.topology.id_of(relocation.spills_to)});
    }
    view.actions.push_back(std::move(row));
  }
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const bool has_spills = owed_beside_spills(now) < owed_at_home(now);
  for (const Rejection& rejection : plan.rejections) {
    RejectionView row;
    const VmState* vm = find_vm(snapshot, rejection.client.vm);
    row.vm = vm == nullptr ? "" : vm->name;
    row.candidate.action = name_of(rejection.reason);
    row.candidate.client = rejection.client.index;
    row.candidate.from = snapshot.topology.id_of(rejection.from);
    row.candidate.to = snapshot.topology.id_of(rejection.to);
    if (rejection.partner != rejection.client) {
      const VmState* partner = find_vm(snapshot, rejection.partner.vm);
      row.candidate.partner =
          fmt::format("{}/{}", partner == nullptr ? to_text(rejection.partner.vm) : partner->name,
                      rejection.partner.index);
    }
    row.candidate.gain_ms = milliseconds(rejection.gain);
    const std::string_view at_home = has_spills ? " if no client spilled" : "";
    row.candidate.guard = name_of(rejection.guard);
    row.candidate.sentence = fmt::format("{}{}, but {}", saves_text(rejection.gain), at_home,
                                         stop_text(snapshot, vm, rejection.guard, options));
    view.rejections.push_back(std::move(row));
  }
  return view;
}

std::string topology_text(const Snapshot& snapshot, std::size_t vm,
                          const VmDescription& description) {
  const VmPolicy& policy = snapshot.vms[vm].policy;
  if (policy.topology_policy == TopologyPolicy::kNone) {
    return {};
  }
  std::string text = fmt::format("topology_policy is '{}'", name_of(policy.topology_policy));
  if (!should_be_aligned(policy, snapshot.topology)) {
    return text +
           fmt::format(
               ", but has no effect: this host has {} nodes and max_allowable_numa_nodes is {}",
               snapshot.topology.nodes.size(), policy.max_allowable_numa_nodes);
  }
  const auto alignment = alignment_of(snapshot, vm, description);
  if (!alignment) {
    return text + ", but it has no home, or needs more than this host has";
  }
  const auto named = [&snapshot](const std::vector<NodeIndex>& nodes) {
    return node_or_nodes(snapshot.topology.ids_of(nodes));
  };
  if (alignment->is_aligned()) {
    return text + fmt::format(" and met: all it needs is on {}", named(alignment->homes));
  }
  text += " and not met:";
  std::string_view separator = " ";
  const auto add = [&](const std::string& what) {
    text += fmt::format("{}{}", std::exchange(separator, "; "), what);
  };
  if (alignment->homes.size() > alignment->fewest_nodes) {
    add(fmt::format("it lives on {} and would fit {} node{} of this host if nothing else ran",
                    named(alignment->homes), alignment->fewest_nodes,
                    alignment->fewest_nodes == 1 ? "" : "s"));
  }
  if (!alignment->far_device_nodes.empty()) {
    add(fmt::format("it lives on {}, its devices are on {}", named(alignment->homes),
                    named(alignment->far_device_nodes)));
  }
  if (alignment->has_memory_elsewhere()) {
    add(fmt::format("{} MiB of its memory are not on {}", alignment->elsewhere.value / kMiB.value,
                    named(alignment->homes)));
  }
  return text;
}

ExplainView explain_view(const Snapshot& snapshot, std::size_t vm_index, const Options& options,
                         const std::vector<std::string>& why) {
  const VmState& vm = snapshot.vms[vm_index];
  ExplainView view;
  view.vm = vm.name;
  view.vm_uuid = to_text(vm.id);
  view.epoch = snapshot.epoch;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  Bytes resident;
  Bytes local;
  for (std::size_t i = 0; i < vm.client_count; ++i) {
    const ClientIndex index = vm.first_client + i;
    const ClientState& client = snapshot.clients[index];
    ClientView row;
    row.index = client.id.index;
    row.vcpus = client.vcpus;
    row.home = snapshot.topology.id_of(client.home);
    row.allowed = snapshot.topology.ids_of(client.allowed);
    row.why = i < why.size() ? why[i] : "";
    row.since_epochs = client.epochs_here;
    if (vm.cpu_measured) {
      row.used_ms = milliseconds(client.used);
      row.ready_ms = milliseconds(client.ready);
      row.demand_ms = milliseconds(client.demand);
      row.entitled_ms = milliseconds(client.entitled);
      row.owed_ms = milliseconds(client.owed);
    }
    const MemoryProfile& memory = now.memory(index);
    if (client.memory_known) {
      row.memory_bytes = memory.resident.value;
    }
    if (client.memory_known && client.home != kNoNode) {
      if (memory.resident > Bytes{}) {
        row.locality_pct = percent(memory.locality(client.home));
      }
      resident += memory.resident;
      local += memory.on(client.home);
    }
    view.clients.push_back(std::move(row));
    for (const Candidate& candidate : all_moves_of(now, index)) {
      CandidateView considered;
      considered.action = name_of(candidate.reason);
      considered.client = client.id.index;
      considered.from = snapshot.topology.id_of(client.home);
      considered.to = snapshot.topology.id_of(candidate.changes.front().to);
      considered.gain_ms = milliseconds(candidate.effect.gain);
      std::string saves = saves_text(candidate.effect.gain);
      if (const CpuTime beside = gain_beside_spills(now, candidate.changes);
          milliseconds(beside) != considered.gain_ms) {
        saves += fmt::format(" with no client spilling, and {} with the current spills",
                             saves_text(beside));
      }
      if (candidate.stopped_by) {
        considered.guard = name_of(*candidate.stopped_by);
        considered.sentence = fmt::format("{}, but {}", saves,
                                          stop_text(snapshot, &vm, *candidate.stopped_by, options));
      } else {
        considered.sentence = saves + ", and no rule forbids it";
      }
      view.considered.push_back(std::move(considered));
    }
  }
  view.talks = talk_views(snapshot, vm);
  if (!vm.fresh) {
    view.memory = "it is left alone: " + vm.stale_because;
  } else if (!vm.memory_stays_because.empty()) {
    view.memory = "its memory is left where it is: " + vm.memory_stays_because;
  } else if (options.page_mig_enable == 0) {
    view.memory = "its memory is left where it is: Numa.PageMigEnable is 0";
  } else if (resident.value == 0) {
    view.memory = "where its memory lies is not known yet";
  } else if (vm.transferring) {
    view.memory = fmt::format("{} of {} MiB are at home, the rest is being moved",
                              local.value >> 20U, resident.value >> 20U);
  } else if (vm.left_behind > Bytes{}) {
    view.memory =
        fmt::format("{} of {} MiB are at home, {} MiB could not be moved", local.value >> 20U,
                    resident.value >> 20U, vm.left_behind.value >> 20U);
  } else {
    view.memory =
        fmt::format("{} of {} MiB are at home", local.value >> 20U, resident.value >> 20U);
  }
  return view;
}

std::vector<DeviceView> device_views(const VmDescription& vm) {
  std::vector<DeviceView> views;
  visit_devices(vm, [&](std::string_view kind, const std::string& name, const auto& device) {
    views.push_back({std::string(kind), name, device.node, {}, ""});
  });
  return views;
}

std::vector<TransferView> transfer_views(
    const Snapshot& snapshot, const std::vector<migration::TransferProgress>& transfers) {
  std::vector<TransferView> views;
  for (const migration::TransferProgress& transfer : transfers) {
    TransferView view;
    if (const VmState* vm = find_vm(snapshot, transfer.vm); vm != nullptr) {
      view.vm = vm->name;
      for (const ClientState& client : clients_of(snapshot, *vm)) {
        if (client.home != kNoNode) {
          view.to.push_back(snapshot.topology.id_of(client.home));
        }
      }
    }
    view.vm_uuid = to_text(transfer.vm);
    view.action = transfer.action;
    const bool waits = transfer.waits_for_room || !transfer.problem.empty();
    view.state = waits ? "waiting" : "running";
    view.problem = transfer.problem;
    view.bytes_done = transfer.done.value;
    view.bytes_remaining = transfer.remaining.value;
    view.rate_bytes_per_second = transfer.per_second.value;
    if (transfer.per_second > Bytes{} && !waits) {
      view.seconds_left =
          (transfer.remaining.value + transfer.per_second.value - 1) / transfer.per_second.value;
    }
    view.stalls = transfer.outcome.stalls;
    view.unmovable_bytes = transfer.outcome.unmovable().value;
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace vmnuma::balancer
