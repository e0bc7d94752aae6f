// SPDX-License-Identifier: Apache-2.0
/// The rows of the tables, one struct per table, fields in the order of the columns.
///
/// Units are ESXi's: times in ms of the last epoch, memory in KB (1024 bytes), shares in per cent
/// rounded down. Nodes have the kernel's numbers. Unknown values are absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vmnuma::stats {

using Figure = std::optional<std::int64_t>;

/// numa-pnode: a node in the last epoch. used + idle = logical CPUs x epoch.
struct PnodeRow {
  std::int64_t node = 0;
  Figure used_ms;  ///< time for which its CPUs were busy, with clients or anything else
  Figure idle_ms;
  Figure entitled_ms;       ///< of its clients
  Figure owed_ms;           ///< of its clients
  Figure load_average_pct;  ///< of its capacity
  Figure vcpus;             ///< homed here
  Figure free_kb;
  Figure total_kb;
  Figure non_vm_ms = {};  ///< the part of used_ms that was used by anything but clients
  bool operator==(const PnodeRow&) const = default;
};

/// The first columns of every table of clients, and the VM's own names, which only JSON has.
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
  Figure home;           ///< absent: it has none, and its memory is neither local nor remote
  std::string affinity;  ///< bit mask of the nodes it may live on, bit = node number: "0x3"
  Figure worlds;         ///< its vCPUs; for the VM's first client also all other threads of the VM
  std::int64_t vmm_worlds = 0;
  Figure local_kb;
  Figure remote_kb;
  Figure current_local_pct;     ///< 0 without memory, as in ESXi
  Figure cumulative_local_pct;  ///< over the client's life
  std::string cpus = {};        ///< of its home; empty: all of them
  bool operator==(const ClientRow&) const = default;
};

/// A client's moves since its VM was first seen, and the pages it moves now.
struct Migrations {
  std::int64_t balance = 0;
  std::int64_t locality = 0;
  std::int64_t long_term = 0;
  std::int64_t load_swap = 0;
  std::int64_t locality_swap = 0;
  std::int64_t page_rate = 0;  ///< 4 KiB pages per second
  bool operator==(const Migrations&) const = default;
};

/// numa-migration.
struct MigrationRow {
  ClientKey key;
  Migrations moves;
  bool operator==(const MigrationRow&) const = default;
};

/// numa-cnode: a client's life on one node.
struct CnodeRow {
  ClientKey key;
  std::int64_t node = 0;
  std::int64_t time = 0;  ///< epochs in which the node was the client's home
  Figure time_pct;        ///< of the client's life
  Figure memory_kb;
  Figure memory_pct;              ///< of the client's memory; 0 if it has none
  Figure average_epochs;          ///< length of an average stay
  std::int64_t memory_moves = 0;  ///< 1 while its memory is being moved here
  bool operator==(const CnodeRow&) const = default;
};

/// numa-latency: reading memory of one node from another.
struct LatencyRow {
  std::int64_t cpu_node = 0;
  std::int64_t memory_node = 0;
  Figure read_ns = {};   ///< measured
  Figure relative = {};  ///< on SLIT's scale: 10 is the node's own memory
  std::int64_t slit = 0;
  Figure hmat_ns = {};     ///< reported by the firmware
  std::string state = {};  ///< name_of(LatencyState)
  bool operator==(const LatencyRow&) const = default;
};

/// numa-global: one number of the whole host.
struct GlobalRow {
  std::string name;
  Figure value;
  bool operator==(const GlobalRow&) const = default;
};

}  // namespace vmnuma::stats
