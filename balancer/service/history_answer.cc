// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/views.h"
#include "placement/base/mapped.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

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

stats::ReservationEventFilter filter_of(const ReservationHistoryRequest& request) {
  stats::ReservationEventFilter filter;
  if (request.since_unix_s) {
    filter.since = stats::WallTime(std::chrono::seconds(*request.since_unix_s));
  }
  filter.reservation = request.name.value_or("");
  filter.limit = request.limit + 1;  // one more shows whether there are more
  return filter;
}

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

/// Checks the filters: a VM or node without moves is not an error; an unknown one is.
Result<void> check_filters(stats::History& history, const HistoryRequest& request,
                           const HostVmsAndNodes& host) {
  if (request.vm) {
    VMNUMA_RETURN_IF_ERROR(past_vm_name(history, *request.vm, host.running));
  }
  if (!request.node) {
    return {};
  }
  stats::ActionFilter of_node;
  of_node.node = request.node;
  of_node.limit = 1;
  return history.recent_actions(of_node).and_then([&](const std::vector<stats::PastAction>& past) {
    return past.empty() ? check_node_is_known(*request.node, host.topology) : Result<void>();
  });
}

}  // namespace

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
    const auto found = std::ranges::find_if(vms, [&](const Named& vm) {
      return vm.*field == (field == &Named::uuid ? uuid : name_or_uuid);
    });
    if (found != vms.end()) {
      return found->name;
    }
  }
  std::vector<std::string_view> names = mapped<std::string_view>(vms, &Named::name);
  return failure(ErrorCode::kNotFound,
                 fmt::format("there is no VM '{}', neither running nor in the history{}",
                             name_or_uuid, did_you_mean(name_or_uuid, names)));
}

Result<void> check_node_is_known(NodeId node, const Topology& topology) {
  if (topology.index_of(node)) {
    return {};
  }
  return failure(ErrorCode::kNotFound, fmt::format("there is no node {}, this host has nodes {}",
                                                   node.value, to_list(topology.all_ids())));
}

Result<std::string> past_vm_name(stats::History& history, const std::string& name_or_uuid,
                                 const std::vector<VmDescription>& running) {
  return history.past_vms().and_then(
      [&](const std::vector<stats::PastVm>& past) { return vm_name(name_or_uuid, past, running); });
}

Result<Answer> reservation_history_answer(stats::History& history,
                                          const ReservationHistoryRequest& request) {
  return history.reservation_events(filter_of(request))
      .map([&](const std::vector<stats::ReservationEventRow>& rows) {
        return Answer(reservation_history_view(rows, request.limit));
      });
}

Result<Answer> history_answer(stats::History& history, const HistoryRequest& request,
                              const HostVmsAndNodes& host) {
  Result<HistoryView> view = history.recent_actions(filter_of(request))
                                 .map([&](const std::vector<stats::PastAction>& actions) {
                                   return history_view(actions, request.limit);
                                 });
  if (view && view->moves.empty()) {
    VMNUMA_RETURN_IF_ERROR(check_filters(history, request, host));
  }
  return std::move(view).map([](HistoryView&& found) { return Answer(std::move(found)); });
}

}  // namespace vmnuma::balancer
