// SPDX-License-Identifier: Apache-2.0
/// Answers `vmnuma history` and `vmnuma reservations --history` from the database, and finds the
/// names of past VMs.
#pragma once

#include <string>
#include <vector>

#include "balancer/protocol/response.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

/// The current VMs and nodes.
struct HostVmsAndNodes {
  std::vector<VmDescription> running;
  Topology topology;
};

/// Answers with the requested actions. Errors: not-found (a VM neither in the history nor running;
/// a node that the host lacks and that is in no action), and those of the history. Blocks.
[[nodiscard]] Result<Answer> history_answer(stats::History& history, const HistoryRequest& request,
                                            const HostVmsAndNodes& host);

/// Answers with past events of reservations. Errors: those of the history. Blocks.
[[nodiscard]] Result<Answer> reservation_history_answer(stats::History& history,
                                                        const ReservationHistoryRequest& request);

/// The view of these actions: at most `limit` rows; `truncated` if there were more.
[[nodiscard]] HistoryView history_view(const std::vector<stats::PastAction>& actions,
                                       std::int64_t limit);
/// The name of the VM with this UUID or name, running or in the history. Error: not-found, with the
/// closest name.
[[nodiscard]] Result<std::string> vm_name(const std::string& name_or_uuid,
                                          const std::vector<stats::PastVm>& past,
                                          const std::vector<VmDescription>& running);
/// Checks that the host has this node. Error: not-found, listing those that it has.
[[nodiscard]] Result<void> check_node_is_known(NodeId node, const Topology& topology);

/// The name of the VM with this UUID or name, which may have ended. Errors: not-found, and those of
/// the history. Blocks.
[[nodiscard]] Result<std::string> past_vm_name(stats::History& history,
                                               const std::string& name_or_uuid,
                                               const std::vector<VmDescription>& running);

}  // namespace vmnuma::balancer
