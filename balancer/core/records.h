// SPDX-License-Identifier: Apache-2.0
/// The ledger's records: what is remembered of a VM and its clients from one epoch to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/core/counted_stall.h"
#include "placement/clients.h"
#include "placement/model/domain.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// Moves of one client since its VM was first seen, by the columns of numa-migration.
struct MigrationCounts {
  std::int64_t balance = 0;  ///< one-way moves for CPU load
  std::int64_t load_swap = 0;
  std::int64_t locality = 0;
  std::int64_t locality_swap = 0;
  std::int64_t long_term = 0;
  std::int64_t administrator = 0;
  bool operator==(const MigrationCounts&) const = default;
};

/// A client's use of CPU time, per second, so that epochs of different length compare.
struct CpuRates {
  CpuTime used;
  CpuTime ready;
  CpuTime demand;
};

/// How long a client ran on a node per epoch, averaged over a few (ran_on.h).
struct RanOnNode {
  NodeId node;
  CpuTime lately;
};

struct RecordFields;

/// What the ledger remembers about one client.
struct ClientRecord {
  ClientShape shape;
  NodeId home;                        ///< value -1: none yet
  NodeId came_from;                   ///< value -1: never moved
  NodeId came_from_before;            ///< what came_from was before its last move
  NodeId pinned_to;                   ///< the node all its vCPUs are pinned to; value -1: none
  std::vector<NodeId> pinned_to_two;  ///< the same if it is two nodes; else empty
  std::vector<RanOnNode> ran_on;      ///< by node; empty if its readings do not show it
  std::int64_t epochs_here = 0;  ///< since it got its home; 1 in the first epoch measured there; at
                                 ///< least Numa.Residency once it is known not to be new there
  std::int64_t epochs_since_swap = 1'000'000;
  std::int64_t age_epochs = 0;  ///< since first seen
  bool moving = false;
  std::int32_t exclusive_cores = 0;  ///< cores of its home that belong to it alone
  NodeId spills_to;                  ///< value -1: it runs at home only
  CpuTime spill_saves;               ///< per second, exponentially weighted
  CpuRates held;                     ///< as last measured
  bool has_average = false;          ///< `average` has been measured
  CpuTime average;                   ///< demand per second, exponentially weighted
  CpuTime recent;                    ///< the same over some ten seconds only
  CpuTime owed;                      ///< per second, exponentially weighted over minutes
  std::vector<CpuTime> owed_before;  ///< newest first
  MigrationCounts counts;
  std::int64_t local_mib_epochs = 0;  ///< for the cumulative locality
  std::int64_t all_mib_epochs = 0;
};

/// What a VM's threads other than vCPUs use (VmSample::beside_us).
struct BesideUse {
  std::int64_t us = 0;  ///< as last read
  Microseconds read_at;
  CpuTime averaged;  ///< per second, averaged
  CpuTime lasting;   ///< the same, at most what it was between the last two readings
};

struct VmRecord {
  VmDescription description;
  std::vector<ClientRecord> clients;
  std::vector<NodeIndex> allowed;               ///< nodes it may have as homes
  std::optional<VmSample> last;                 ///< its newest reading
  Microseconds read_at;                         ///< when that was taken
  bool measured = false;                        ///< at least once
  std::int64_t epochs_stale = 0;                ///< as in VmState
  std::int32_t weight = 100;                    ///< newest known
  std::optional<std::vector<Bytes>> memory;     ///< newest known, per node
  std::vector<std::vector<Bytes>> cell_memory;  ///< of `memory`, by cell; empty = unknown
  CountedStall counted_stall;
  std::optional<BesideUse> beside;
  bool found_running = false;        ///< was running when the daemon started
  std::optional<Permille> expected;  ///< its usual CPU use per vCPU, from the history
  std::vector<NodeId> suggested;     ///< where libvirt was told to start it
  bool transferring = false;
  Bytes left_behind;  ///< by the last transfer
  std::int64_t epochs_since_transfer = 1'000'000;
  std::int64_t epochs_travelled = 0;       ///< with pages in transit, since its last change of home
  std::int64_t epochs_rested = 1'000'000;  ///< without, since that change
  std::int64_t pull_again_after = 0;       ///< as in VmState; longer with every transfer
};

}  // namespace vmnuma::balancer
