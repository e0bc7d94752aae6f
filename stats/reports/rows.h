// SPDX-License-Identifier: Apache-2.0
/// The rows of the tables, one struct a table, fields in the order of the columns.
///
/// Units are ESXi's: times in ms of the last epoch, memory in KB (1024 bytes), shares in per cent
/// rounded down. Nodes carry the kernel's numbers; -1 stands for none.
#pragma once

#include <cstdint>
#include <string>

namespace vmnuma::stats {

/// numa-pnode: a node in the last epoch. used + idle = logical CPUs x epoch.
struct PnodeRow {
  std::int64_t node = 0;
  std::int64_t used_ms = 0;  ///< its CPUs were busy, with clients or anything else
  std::int64_t idle_ms = 0;
  std::int64_t entitled_ms = 0;       ///< of its clients
  std::int64_t owed_ms = 0;           ///< of its clients
  std::int64_t load_average_pct = 0;  ///< of its capacity
  std::int64_t vcpus = 0;             ///< homed here
  std::int64_t free_kb = 0;
  std::int64_t total_kb = 0;
  bool operator==(const PnodeRow&) const = default;
};

/// The columns by which every table of clients begins, and the VM's own names, which only JSON has.
struct ClientKey {
  std::string group_name;     ///< "vm.<pid of its QEMU>", so without blanks whatever the VM's name
  std::int64_t group_id = 0;  ///< libvirt's running id
  std::int64_t client = 0;
  std::string vm_name;
  std::string vm_uuid;
  bool operator==(const ClientKey&) const = default;
};

/// numa-clients: where a client lives and where its memory is. local + remote = resident memory.
struct ClientRow {
  ClientKey key;
  std::int64_t home = -1;
  std::string affinity;  ///< bit mask of the nodes it may live on, bit = node number: "0x3"
  std::int64_t worlds = 0;
  std::int64_t vmm_worlds = 0;
  std::int64_t local_kb = 0;
  std::int64_t remote_kb = 0;
  std::int64_t current_local_pct = 0;     ///< 0 without memory, as in ESXi
  std::int64_t cumulative_local_pct = 0;  ///< over the client's life
  std::string cpus = {};                  ///< of its home; empty: all of them
  bool operator==(const ClientRow&) const = default;
};

/// numa-migration: a client's moves since its VM was first seen, and the pages it moves now.
struct MigrationRow {
  ClientKey key;
  std::int64_t balance = 0;
  std::int64_t load = 0;
  std::int64_t locality = 0;
  std::int64_t long_term = 0;
  std::int64_t monitor = 0;
  std::int64_t load_swap = 0;
  std::int64_t locality_swap = 0;
  std::int64_t page_rate = 0;  ///< 4 KiB pages per second
  bool operator==(const MigrationRow&) const = default;
};

/// numa-cnode: a client's life on one node.
struct CnodeRow {
  ClientKey key;
  std::int64_t node = 0;
  std::int64_t time = 0;      ///< epochs that it was its home
  std::int64_t time_pct = 0;  ///< of the client's life
  std::int64_t memory_kb = 0;
  std::int64_t memory_pct = 0;      ///< of the client's memory
  std::int64_t average_epochs = 0;  ///< of one stay
  std::int64_t memory_moves = 0;    ///< 1 while its memory is being moved here
  bool operator==(const CnodeRow&) const = default;
};

/// numa-latency: reading memory of one node from another.
struct LatencyRow {
  std::int64_t cpu_node = 0;
  std::int64_t memory_node = 0;
  std::int64_t read_ns = -1;   ///< measured; -1: not
  std::int64_t relative = -1;  ///< the same as SLIT counts: 10 is from the node's own memory
  std::int64_t slit = 0;
  std::int64_t hmat_ns = -1;  ///< as the firmware says; -1: it does not
  std::string state;          ///< name_of(LatencyState)
  bool operator==(const LatencyRow&) const = default;
};

/// numa-global: one number of the whole host.
struct GlobalRow {
  std::string name;
  std::int64_t value = 0;
  bool operator==(const GlobalRow&) const = default;
};

}  // namespace vmnuma::stats
