// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/views.h"
#include "migration/order_text.h"
#include "placement/base/mapped.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

OutcomeView outcome_view(const stats::ActionOutcome& outcome) {
  OutcomeView view;
  view.lost_before_ms = milliseconds(outcome.lost_before);
  view.lost_after_ms = milliseconds(outcome.lost_after);
  view.imbalance_before_pct = percent(outcome.imbalance_before);
  view.imbalance_after_pct = percent(outcome.imbalance_after);
  view.locality_before_pct = percent_if(outcome.locality_before);
  view.locality_after_pct = percent_if(outcome.locality_after);
  view.moved_bytes = outcome.moved.value;
  view.took_ms = outcome.took.count();
  return view;
}

}  // namespace

stats::ActionState action_state(migration::ActionState state) {
  return value_named<stats::ActionState>(name_of(state)).value_or(stats::ActionState::kDropped);
}

stats::ActionRow action_row(const migration::Order& order, stats::WallTime now) {
  stats::ActionRow row;
  row.id = order.action;
  row.time = now;
  row.epoch = order.epoch;
  row.reason = name_of(order.reason);
  row.predicted = order.predicted;
  row.order_text = migration::to_text(order);
  for (const migration::VmChange& change : order.changes) {
    if (change.homes.empty()) {
      // Only memory moves: it goes home, as much as the quotas specify.
      for (const migration::NodeQuota& quota : change.memory.quotas) {
        row.relocations.push_back(
            {change.vm, change.vm_name, 0, quota.node, quota.node, quota.bytes});
      }
    }
    for (const migration::HomeChange& home : change.homes) {
      Bytes memory;
      for (const migration::NodeQuota& quota : change.memory.quotas) {
        if (quota.node == home.to) {
          memory = quota.bytes;
        }
      }
      row.relocations.push_back(
          {change.vm, change.vm_name, home.client, home.from, home.to, memory, home.spills_to});
    }
  }
  return row;
}

stats::ActionOutcome outcome_row(const OutcomeMeasured& outcome) {
  return {outcome.before.lost,
          outcome.after.lost,
          outcome.before.imbalance,
          outcome.after.imbalance,
          outcome.locality_before,
          outcome.locality_after,
          outcome.moved,
          std::chrono::milliseconds(outcome.took.value / 1000)};
}

stats::ActionRow not_admitted_row(const StartNotAdmitted& start, stats::WallTime now) {
  stats::ActionRow row;
  row.id = start.action;
  row.time = now;
  row.epoch = start.epoch;
  row.reason = kNotAdmittedReason;
  row.predicted.known = false;
  row.relocations.push_back({start.vm, start.name, 0, {}, {}, {}});
  return row;
}

stats::ActionFilter filter_of(const HistoryRequest& request) {
  stats::ActionFilter filter;
  if (request.since_unix_s) {
    filter.since = stats::WallTime(std::chrono::seconds(*request.since_unix_s));
  }
  if (request.until_unix_s) {
    filter.until = stats::WallTime(std::chrono::seconds(*request.until_unix_s));
  }
  filter.vm = request.vm.value_or("");
  filter.node = request.node;
  filter.reason = request.reason.value_or("");
  filter.limit = request.limit + 1;  // one more shows whether there are more
  return filter;
}

HistoryView history_view(const std::vector<stats::PastAction>& actions, std::int64_t limit) {
  HistoryView view;
  for (const stats::PastAction& past : actions) {
    if (limit-- == 0) {
      view.truncated = true;
      break;
    }
    for (const stats::RelocationRow& relocation : past.action.relocations) {
      HistoryRowView row;
      row.action = past.action.id;
      row.time_unix_s =
          std::chrono::duration_cast<std::chrono::seconds>(past.action.time.time_since_epoch())
              .count();
      row.vm = relocation.vm_name;
      row.vm_uuid = to_text(relocation.vm);
      row.client = relocation.client;
      row.reason = past.action.reason;
      row.from = relocation.from;
      row.to = relocation.to;
      row.spills_to = relocation.spills_to;
      row.predicted = prediction_view(row.reason, past.action.predicted);
      if (past.outcome) {
        row.outcome = outcome_view(*past.outcome);
      }
      row.state = name_of(past.state);
      row.detail = past.detail;
      view.moves.push_back(std::move(row));
    }
  }
  return view;
}

stats::ReservationEventRow reservation_event_row(const ReservationChanged& change,
                                                 stats::WallTime now) {
  return {.time = now,
          .reservation = change.reservation,
          .what = std::string(name_of(change.step)),
          .vm_uuid = change.vm ? to_text(*change.vm) : "",
          .vm_name = change.vm_name,
          .memory = change.memory,
          .detail = change.detail};
}

stats::ReservationEventFilter filter_of(const ReservationHistoryRequest& request) {
  stats::ReservationEventFilter filter;
  if (request.since_unix_s) {
    filter.since = stats::WallTime(std::chrono::seconds(*request.since_unix_s));
  }
  filter.reservation = request.name.value_or("");
  filter.limit = request.limit + 1;  // one more shows whether there are more
  return filter;
}

ReservationHistoryView reservation_history_view(const std::vector<stats::ReservationEventRow>& rows,
                                                std::int64_t limit) {
  ReservationHistoryView view;
  for (const stats::ReservationEventRow& row : rows) {
    if (limit-- == 0) {
      view.truncated = true;
      break;
    }
    view.events.push_back(
        {std::chrono::duration_cast<std::chrono::seconds>(row.time.time_since_epoch()).count(),
         row.reservation, row.what, row.vm_name, row.vm_uuid, row.memory.value, row.detail});
  }
  return view;
}

Result<std::string> vm_name(const std::string& name_or_uuid, const std::vector<stats::PastVm>& past,
                            const std::vector<VmDescription>& running) {
  struct Named {
    std::string uuid;
    std::string name;
  };
  std::vector<Named> vms;
  vms.reserve(running.size() + past.size());
  for (const VmDescription& vm : running) {
    vms.push_back({to_text(vm.id), vm.name});
  }
  for (const stats::PastVm& vm : past) {
    vms.push_back({vm.uuid, vm.name});
  }
  const Result<VmId> id = parse_vm_id(name_or_uuid);
  const std::string uuid = id ? to_text(*id) : name_or_uuid;
  for (const std::string Named::*field : {&Named::uuid, &Named::name}) {
    const auto found = std::find_if(vms.begin(), vms.end(), [&](const Named& vm) {
      return vm.*field == (field == &Named::uuid ? uuid : name_or_uuid);
    });
    if (found != vms.end()) {
      return found->name;
    }
  }
  return failure(
      ErrorCode::kNotFound,
      fmt::format("there is no VM '{}', neither running nor in the history{}", name_or_uuid,
                  did_you_mean(name_or_uuid, mapped<std::string_view>(vms, &Named::name))));
}

Result<void> check_node_is_known(NodeId node, const Topology& topology) {
  if (topology.index_of(node)) {
    return {};
  }
  return failure(ErrorCode::kNotFound, fmt::format("there is no node {}, this host has nodes {}",
                                                   node.value, to_list(topology.all_ids())));
}

}  // namespace vmnuma::balancer
