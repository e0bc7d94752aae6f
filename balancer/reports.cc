// SPDX-License-Identifier: Apache-2.0
#include "balancer/reports.h"

#include <algorithm>

#include <fmt/format.h>

#include "balancer/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::ClientState;
using placement::CpuTime;
using placement::kNoNode;
using placement::NodeIndex;
using placement::NodeState;
using placement::Snapshot;
using stats::Cell;
using stats::Report;

namespace {

constexpr std::int64_t kSmallPage = 4096;

std::int64_t milliseconds(CpuTime time) {
  return (time.value + 500) / 1000;
}
std::int64_t kilobytes(Bytes bytes) {
  return bytes.value / 1024;
}
std::int64_t share_pct(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? part * 100 / whole : 0;
}

struct Group {
  Cell name;
  Cell id;
};

Group group_of(const Ledger& ledger, const placement::VmId& vm) {
  const VmRecord* record = ledger.find(vm);
  const std::int64_t pid = record != nullptr && record->last ? record->last->process.pid : 0;
  return {fmt::format("vm.{}", pid),
          std::int64_t{record == nullptr ? -1 : record->description.domain_id}};
}

std::int64_t home_of(const Snapshot& snapshot, const ClientState& client) {
  return client.home == kNoNode ? -1 : snapshot.topology.nodes[client.home].id.value;
}

/// ESXi's bit mask, "0x3"; node numbers beyond 63 do not fit one and are left out.
std::string affinity_mask(const Snapshot& snapshot, const ClientState& client) {
  std::uint64_t mask = 0;
  for (const NodeIndex node : client.allowed) {
    const std::int32_t id = snapshot.topology.nodes[node].id.value;
    if (id >= 0 && id < 64) {
      mask |= std::uint64_t{1} << static_cast<unsigned>(id);
    }
  }
  return fmt::format("{:#x}", mask);
}

struct Locality {
  Bytes local;
  Bytes remote;
};

Locality locality_of(const ClientState& client) {
  Locality locality;
  for (NodeIndex node = 0; node < client.memory.size(); ++node) {
    (node == client.home ? locality.local : locality.remote) += client.memory[node];
  }
  return locality;
}

void name_vms(Report& report) {
  report.extra_columns = {"vmName", "vmUuid"};
}

void add_client_row(Report& report, const Snapshot& snapshot, const ClientState& client,
                    std::vector<Cell> row) {
  report.rows.push_back(std::move(row));
  report.extra_cells.push_back({snapshot.vms[client.vm].name, to_text(client.id.vm)});
}

Report pnode(const Snapshot& snapshot) {
  Report report{
      "numa-pnode",
      {"nodeID", "used", "idle", "entitled", "owed", "loadAvgPct", "nVcpu", "freeMem", "totalMem"},
      {},
      {},
      {}};
  for (NodeIndex i = 0; i < snapshot.nodes.size(); ++i) {
    const NodeState& node = snapshot.nodes[i];
    const CpuTime used = std::min(node.used, node.threads);
    report.rows.push_back({std::int64_t{snapshot.topology.nodes[i].id.value}, milliseconds(used),
                           milliseconds(node.threads) - milliseconds(used),
                           milliseconds(node.entitled), milliseconds(node.owed),
                           node.load_average.value / 10, std::int64_t{node.vcpus},
                           kilobytes(node.free), kilobytes(node.total)});
  }
  return report;
}

Report clients(const Snapshot& snapshot, const Ledger& ledger) {
  Report report{"numa-clients",
                {"groupName", "groupID", "clientID", "homeNode", "affinity", "nWorlds", "vmmWorlds",
                 "localMem", "remoteMem", "currLocal%", "cummLocal%"},
                {},
                {},
                {}};
  name_vms(report);
  for (const ClientState& client : snapshot.clients) {
    const VmRecord* vm = ledger.find(client.id.vm);
    const ClientRecord* record =
        vm == nullptr || static_cast<std::size_t>(client.id.index) >= vm->clients.size()
            ? nullptr
            : &vm->clients[static_cast<std::size_t>(client.id.index)];
    const Group group = group_of(ledger, client.id.vm);
    const Locality memory = locality_of(client);
    const std::int64_t vcpus = client.vcpu_count();
    add_client_row(
        report, snapshot, client,
        {group.name, group.id, std::int64_t{client.id.index}, home_of(snapshot, client),
         affinity_mask(snapshot, client), vcpus, vcpus, kilobytes(memory.local),
         kilobytes(memory.remote),
         share_pct(memory.local.value, (memory.local + memory.remote).value),
         record == nullptr ? 0 : share_pct(record->local_mib_epochs, record->all_mib_epochs)});
  }
  return report;
}

Report migrations(const Snapshot& snapshot, const Ledger& ledger,
                  const std::vector<migration::TransferProgress>& transfers) {
  Report report{"numa-migration",
                {"groupName", "groupID", "clientID", "balanceMig", "loadMig", "localityMig",
                 "longTermMig", "monitorMig", "loadSwap", "localitySwap", "pageMigRate"},
                {},
                {},
                {}};
  name_vms(report);
  for (const ClientState& client : snapshot.clients) {
    const VmRecord* vm = ledger.find(client.id.vm);
    if (vm == nullptr || static_cast<std::size_t>(client.id.index) >= vm->clients.size()) {
      continue;
    }
    const MigrationCounts& counts = vm->clients[static_cast<std::size_t>(client.id.index)].counts;
    std::int64_t pages_per_second = 0;
    for (const migration::TransferProgress& transfer : transfers) {
      if (transfer.vm == client.id.vm && client.id.index == 0) {
        pages_per_second = transfer.per_second.value / kSmallPage;
      }
    }
    const Group group = group_of(ledger, client.id.vm);
    // loadMig is 0 in every public sample, and no monitor migrates under KVM.
    add_client_row(report, snapshot, client,
                   {group.name, group.id, std::int64_t{client.id.index}, counts.balance,
                    std::int64_t{0}, counts.locality, counts.long_term, std::int64_t{0},
                    counts.load_swap, counts.locality_swap, pages_per_second});
  }
  return report;
}

}  // namespace

Result<Report> make_report(const std::string& type, const Snapshot& snapshot, const Ledger& ledger,
                           const std::vector<migration::TransferProgress>& transfers) {
  if (type == "numa-pnode") {
    return pnode(snapshot);
  }
  if (type == "numa-clients") {
    return clients(snapshot, ledger);
  }
  if (type == "numa-migration") {
    return migrations(snapshot, ledger, transfers);
  }
  return failure(ErrorCode::kNotFound, fmt::format("there is no report '{}'{}", type,
                                                   did_you_mean(type, stats::report_types())));
}

}  // namespace vmnuma::balancer
