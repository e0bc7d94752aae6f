// SPDX-License-Identifier: Apache-2.0
/// An epoch's snapshot and the clients' counters, as rows of the tables. Pure.
///
/// Properties: used + idle = logical CPUs x epoch on every node, also after rounding; local +
/// remote = the memory that is resident; both are absent while that is unknown or the client has no
/// home; the percentages follow from the printed amounts; a VM without a group is left out of the
/// tables of clients.
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
  std::optional<std::int64_t> threads = {};  ///< all that run for it
  bool operator==(const Group&) const = default;
};

/// What a snapshot does not contain about a client. Counts are since the VM was first seen.
struct ClientCounters {
  std::int64_t balance = 0;
  std::int64_t locality = 0;
  std::int64_t long_term = 0;
  std::int64_t load_swap = 0;
  std::int64_t locality_swap = 0;
  std::int64_t page_mig_rate = 0;     ///< 4 KiB pages per second now
  std::int64_t local_memory_sum = 0;  ///< over all epochs, in any unit, and
  std::int64_t all_memory_sum = 0;    ///< of all its memory in the same unit
  bool operator==(const ClientCounters&) const = default;
};

/// The input of all tables. A client without counters has never moved.
struct ReportInput {
  const Snapshot& snapshot;
  std::map<VmId, Group> groups;
  std::map<ClientId, ClientCounters> counters;
  /// The CPUs of the clients that do not have their home whole, as a list.
  std::map<ClientId, std::string> cpus = {};
};

/// By node, also before the first epoch.
[[nodiscard]] std::vector<PnodeRow> pnode_rows(const Snapshot& snapshot);
/// By VM, then client.
[[nodiscard]] std::vector<ClientRow> client_rows(const ReportInput& input);
[[nodiscard]] std::vector<MigrationRow> migration_rows(const ReportInput& input);
/// By VM, then client, then node; all nodes that the client has lived on, may live on or has memory
/// on.
[[nodiscard]] std::vector<CnodeRow> cnode_rows(const ReportInput& input, const NodeStays& stays);
/// nodes, clients, localMemory and remoteMemory (KB, as in numa-clients), then the sums of
/// numa-migration's columns.
[[nodiscard]] std::vector<GlobalRow> global_rows(const ReportInput& input);

/// "0x3" for nodes 0 and 1, with as many digits as the largest number needs; "0x0" for none.
[[nodiscard]] std::string affinity_mask(const std::vector<NodeId>& nodes);

}  // namespace vmnuma::stats
