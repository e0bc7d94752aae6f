// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_answer.h"

#include <utility>

#include "balancer/service/history_rows.h"

namespace vmnuma::balancer {

namespace {

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
