// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_answer.h"

#include <utility>

#include "balancer/service/history_rows.h"

namespace vmnuma::balancer {

Result<Answer> history_answer(stats::History& history, const HistoryRequest& request,
                              const std::vector<placement::VmDescription>& running) {
  Result<HistoryView> view = history.recent_actions(filter_of(request))
                                 .map([&](const std::vector<stats::PastAction>& actions) {
                                   return history_view(actions, request.limit);
                                 });
  if (view && request.vm && view->moves.empty()) {
    // A VM that has not moved has no moves; one that nobody knows is an error.
    const Result<void> known =
        history.past_vms().and_then([&](const std::vector<stats::PastVm>& past) {
          return check_vm_is_known(*request.vm, past, running);
        });
    if (!known) {
      return tl::unexpected(known.error());
    }
  }
  return std::move(view).map([](HistoryView&& found) { return Answer(std::move(found)); });
}

}  // namespace vmnuma::balancer
