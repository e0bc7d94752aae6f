// SPDX-License-Identifier: Apache-2.0
/// Converts an epoch's snapshot and the clients' counters to rows of the tables. Pure.
///
/// Properties:
///  - used + idle = logical CPUs x epoch on every node, even after rounding;
///  - local + remote = the resident memory; both are absent while that is unknown or the client has
///    no home;
///  - the percentages are computed from the printed amounts;
///  - a VM without a group is left out of the tables of clients.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/ids.h"
#include "placement/model/snapshot.h"
#include "stats/reports/node_stays.h"
#include "stats/reports/rows.h"

namespace vmnuma::stats {

/// A VM's identity in the tables.
struct Group {
  std::int64_t pid = 0;                      ///< of its QEMU process
  std::int64_t id = -1;                      ///< libvirt's running id
  std::optional<std::int64_t> threads = {};  ///< all threads that run for the VM
  bool operator==(const Group&) const = default;
};

/// Information about a client that a snapshot does not contain.
struct ClientCounters {
  Migrations moves;
  std::int64_t local_memory_sum = 0;  ///< over all epochs, in any unit, and
  std::int64_t all_memory_sum = 0;    ///< sum of all its memory in the same unit
  bool operator==(const ClientCounters&) const = default;
};

/// The input of all tables. A client without counters has not moved yet.
struct ReportInput {
  const Snapshot& snapshot;
  std::map<VmId, Group> groups;
  std::map<ClientId, ClientCounters> counters;
  /// For each client that may use only part of its home's CPUs: those CPUs, as a list.
  std::map<ClientId, std::string> cpus = {};
};

/// Returns the rows by node; available even before the first epoch.
[[nodiscard]] std::vector<PnodeRow> pnode_rows(const Snapshot& snapshot);
/// Returns the rows by VM, then client.
[[nodiscard]] std::vector<ClientRow> client_rows(const ReportInput& input);
[[nodiscard]] std::vector<MigrationRow> migration_rows(const ReportInput& input);
/// Returns the rows by VM, then client, then node, for all nodes on which the client has lived, may
/// live or has memory.
[[nodiscard]] std::vector<CnodeRow> cnode_rows(const ReportInput& input, const NodeStays& stays);
/// Returns nodes, clients, localMemory and remoteMemory (KB, as in numa-clients), then the sums of
/// numa-migration's columns.
[[nodiscard]] std::vector<GlobalRow> global_rows(const ReportInput& input);

/// Returns a mask: "0x3" for nodes 0 and 1, with as many digits as the largest node number needs;
/// "0x0" for no nodes.
[[nodiscard]] std::string affinity_mask(const std::vector<NodeId>& nodes);

}  // namespace vmnuma::stats
