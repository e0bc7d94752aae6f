// SPDX-License-Identifier: Apache-2.0
// The controller's answer to `stats`: the sched-stats tables of the last epoch, the balancer's
// state in the terms of stats/reports.
#include <fmt/format.h>

#include "balancer/controller/commands.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"
#include "stats/reports/counters.h"
#include "stats/reports/latency_rows.h"
#include "stats/reports/tables.h"

namespace vmnuma::balancer {
namespace {

constexpr std::int64_t kSmallPage = 4096;

stats::ReportInput input_of(const ControllerState& state) {
  stats::ReportInput input{state.last.snapshot, {}, {}};
  for (const auto& [id, vm] : state.ledger.vms()) {
    if (!vm.last) {
      continue;
    }
    input.groups[id] = {vm.last->process.pid, vm.description.domain_id, vm.last->threads};
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientRecord& client = vm.clients[index];
      input.counters[{id, static_cast<std::int32_t>(index)}] = {
          .moves = {.balance = client.counts.balance,
                    .locality = client.counts.locality,
                    .long_term = client.counts.long_term,
                    .load_swap = client.counts.load_swap,
                    .locality_swap = client.counts.locality_swap},
          .local_memory_sum = client.local_mib_epochs,
          .all_memory_sum = client.all_mib_epochs};
    }
  }
  for (const auto& [id, vm] : state.vms.each(&ManagedVm::cpu_subset)) {
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      if (!vm.clients[index].empty()) {
        input.cpus[{id, static_cast<std::int32_t>(index)}] = to_list(vm.clients[index]);
      }
    }
  }
  for (const migration::TransferProgress& transfer : state.last.transfers) {
    // A transfer concerns the whole VM; it is shown with the VM's first client.
    if (const auto first = input.counters.find({transfer.vm, 0}); first != input.counters.end()) {
      first->second.moves.page_rate = transfer.per_second.value / kSmallPage;
    }
  }
  return input;
}

}  // namespace

Result<stats::Report> reply_to(const ControllerState& state, const StatsRequest& request) {
  const std::string& type = request.type;
  const stats::ReportInput input = input_of(state);
  if (type == "numa-pnode") {
    return stats::pnode_table(stats::pnode_rows(state.last.snapshot));
  }
  if (type == "numa-clients") {
    return stats::client_table(stats::client_rows(input));
  }
  if (type == "numa-migration") {
    return stats::migration_table(stats::migration_rows(input));
  }
  if (type == "numa-cnode") {
    return stats::cnode_table(stats::cnode_rows(input, state.figures.stays));
  }
  if (type == stats::kLatencyTable) {
    // Measured latencies play no part in decisions, so the controller has only those of the SLIT.
    return stats::latency_table(stats::latency_rows(state.last.snapshot.topology, {}));
  }
  if (type == "numa-global") {
    return stats::global_table(stats::global_rows(input));
  }
  return failure(ErrorCode::kNotFound, fmt::format("there is no report '{}'{}", type,
                                                   did_you_mean(type, stats::report_types())));
}

}  // namespace vmnuma::balancer
