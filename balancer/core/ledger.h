// SPDX-License-Identifier: Apache-2.0
/// The balancer's memory: turns each epoch's raw counters into what clients used, wanted and were
/// owed.
///
/// Problem: the kernel gives counters that only grow, VMs come and go between two readings, and
/// decisions need things that no reading contains: homes, how long a client has lived there, what
/// it was owed before. Approach: the ledger keeps the last sample and one record per client.
/// `advance` takes the next sample in and returns a Snapshot, which holds everything a decision
/// needs. Homes change only through set_home, adopt_home and forget_home. A VM or node that cannot
/// be read for a while keeps the numbers it had, so that its load does not seem to be gone.
/// Terms: *bound* - the client's vCPUs are pinned to its home, so that its time was used there.
/// *Pending load* - what a VM just placed counts with, fading to what is measured within a minute.
/// *Held* - the newest numbers known, instead of a reading.
/// Properties:
///  1. Numbers come only from two readings of one epoch and the one before it.
///  2. A counter that went backwards, a process that changed or a thread that is missing makes its
///     VM stale for this epoch; its record is kept and its numbers are held.
///  3. Time that a VM was throttled by its own quota is not owed.
///  4. Load that is there in one epoch only does not count as non-VM load.
///  5. Time that a core which belongs to one client alone idled is set aside: no other client can
///     have it.
///  6. Equal inputs give equal snapshots.
///  7. What is held or assumed is marked as such (cpu_measured, memory_read).
///  8. A client that has a home when the daemon starts and first sees it counts as one that has
///  been there for Numa.Residency, once it has been measured; one that then gets a home does not.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "balancer/core/counted_stall.h"
#include "balancer/core/vm_usage.h"
#include "balancer/core/wakeups.h"
#include "placement/clients.h"
#include "placement/model/domain.h"
#include "placement/model/forecast.h"
#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/reserved_memory.h"
#include "placement/model/sample.h"
#include "placement/model/snapshot.h"

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
  placement::CpuTime used;
  placement::CpuTime ready;
  placement::CpuTime demand;
};

struct RecordFields;

/// What the ledger remembers about one client.
struct ClientRecord {
  placement::ClientShape shape;
  placement::NodeId home;              ///< value -1: none yet
  placement::NodeId came_from;         ///< value -1: never moved
  placement::NodeId came_from_before;  ///< what came_from was before its last move
  placement::NodeId pinned_to;         ///< the node all its vCPUs are pinned to; value -1: none
  std::vector<placement::NodeId> pinned_to_two;  ///< the same if it is two nodes; else empty
  std::int64_t epochs_here = 0;  ///< since it got its home; 1 in the first epoch measured there;
                                 ///< at least Numa.Residency once it is known to be no newcomer
  std::int64_t epochs_since_swap = 1'000'000;
  std::int64_t age_epochs = 0;  ///< since first seen
  bool moving = false;
  std::int32_t exclusive_cores = 0;             ///< of its home, that belong to it alone
  placement::NodeId spills_to;                  ///< value -1: it runs at home only
  placement::CpuTime spill_saves;               ///< per second, exponentially weighted
  CpuRates held;                                ///< as last measured
  bool has_average = false;                     ///< `average` has been measured
  placement::CpuTime average;                   ///< demand per second, exponentially weighted
  placement::CpuTime recent;                    ///< the same over some ten seconds only
  placement::CpuTime owed;                      ///< per second, exponentially weighted over minutes
  std::vector<placement::CpuTime> owed_before;  ///< newest first
  MigrationCounts counts;
  std::int64_t local_mib_epochs = 0;  ///< for the cumulated locality
  std::int64_t all_mib_epochs = 0;
};

/// What a VM's threads other than vCPUs use (VmSample::beside_us).
struct BesideUse {
  std::int64_t us = 0;  ///< as last read
  placement::Microseconds read_at;
  placement::CpuTime averaged;  ///< per second
  placement::CpuTime lasting;   ///< the same, at most what it was between the last two readings
};

struct VmRecord {
  placement::VmDescription description;
  std::vector<ClientRecord> clients;
  std::vector<placement::NodeIndex> allowed;            ///< homes it may have
  std::optional<placement::VmSample> last;              ///< its newest reading
  placement::Microseconds read_at;                      ///< when that was taken
  bool measured = false;                                ///< at least once
  std::int32_t weight = 100;                            ///< newest known
  std::optional<std::vector<placement::Bytes>> memory;  ///< newest known, per node
  std::vector<std::vector<placement::Bytes>>
      cell_memory;  ///< of `memory`, by cell; empty = unknown
  CountedStall counted_stall;
  std::optional<BesideUse> beside;
  bool found_running = false;                   ///< was there when the daemon started
  std::optional<placement::Permille> expected;  ///< its usual CPU use per vCPU, from the history
  std::vector<placement::NodeId> suggested;     ///< where libvirt was told to start it
  bool transferring = false;
  placement::Bytes left_behind;  ///< by the last transfer
  std::int64_t epochs_since_transfer = 1'000'000;
  std::int64_t epochs_travelled = 0;  ///< with pages on their way, since its last change of home
  std::int64_t epochs_rested = 1'000'000;  ///< without, since then
  std::int64_t pull_again_after = 0;       ///< as in VmState; longer with every transfer
};

class Ledger {
 public:
  Ledger(placement::Topology topology, placement::Options options);

  [[nodiscard]] const placement::Topology& topology() const { return topology_; }
  [[nodiscard]] const placement::Options& options() const { return options_; }
  void set_options(const placement::Options& options);
  /// What each node keeps for the system, if that is more than Numa.NodeReservePct.
  void set_reserved_memory(placement::ReservedMemory reserved) { reserved_ = std::move(reserved); }
  /// What a read of a node's own memory takes, with which the reads that CPUs counted become prices
  /// of single VMs. Nothing: all VMs have the host's price, because somebody has set it.
  void set_local_read_ns(std::optional<std::int64_t> local_read_ns) {
    local_read_ns_ = local_read_ns;
  }
  /// A changed host. Homes on nodes that are gone become none. Where only distances are others,
  /// everything known is kept.
  void set_topology(placement::Topology topology);

  /// All running VMs, ascending id. New ones get a record, vanished ones lose theirs; a VM whose
  /// vCPUs or policy changed so that it splits differently starts with the homes it had as far as
  /// the clients correspond.
  void set_domains(const std::vector<placement::VmDescription>& running);

  /// Gives a client a home; nothing happens if it has that one. Unknown clients and nodes are
  /// ignored. A swap is remembered as one, so that the client is not swapped again soon.
  void set_home(const placement::ClientId& client, placement::NodeId node,
                placement::Reason reason);
  /// Counts a move that was carried out; `reason` says in which column. Placements are not counted.
  void count_move(const placement::ClientId& client, placement::Reason reason);
  /// Gives a client the home back that it had before an order that was not carried out: it came
  /// from where it had come from before, and has to stay as long as if it had just arrived.
  void take_home_back(const placement::ClientId& client, placement::NodeId node);
  /// Takes a home over as it was found or remembered, without counting a move.
  void adopt_home(const placement::ClientId& client, placement::NodeId node);
  /// Where libvirt was told to start the VM: its clients get their first homes there if they can.
  /// Forgotten with the first move.
  void set_suggested(const placement::VmId& vm, std::vector<placement::NodeId> nodes);
  /// The client runs on the CPUs of that node beside those of its home; value -1: at home only. A
  /// new home ends it, and without a home there is none.
  void set_spill(const placement::ClientId& client, placement::NodeId node);
  /// What each spill is reckoned to have saved lately. Clients that do not spill are ignored.
  void note_spills(const std::vector<placement::Spill>& spills, placement::CpuTime epoch);
  /// Takes a client's home away; it will be placed anew.
  void forget_home(const placement::ClientId& client);
  void set_moving(const placement::VmId& vm, bool moving);
  /// How many cores of its home belong to the client alone.
  void set_exclusive_cores(const placement::ClientId& client, std::int32_t cores);
  /// Pages of the VM set out; then so many bytes were moved, and at least `left_behind` are still
  /// remote. What is really left is what the readings then show: they also count pages that cannot
  /// be moved at all, such as program text. What was left is tried again after 6 epochs, then 18,
  /// 54, 162 and 300; once that moved next to nothing, only if more memory becomes remote, or after
  /// a change of homes.
  void transfer_began(const placement::VmId& vm);
  void transfer_ended(const placement::VmId& vm, placement::Bytes moved,
                      placement::Bytes left_behind);
  void set_expected_load(const placement::VmId& vm, placement::Permille per_vcpu);
  /// What the VM is taken to want when it starts, of its vCPUs' full time.
  [[nodiscard]] placement::Permille start_load(const placement::VmId& vm) const;
  /// In place of all before. They hold for ten minutes.
  void set_forecasts(placement::LoadForecasts forecasts);
  /// Of how many of the VMs a forecast counts, by who made it.
  [[nodiscard]] std::array<std::int64_t, placement::kPredictorKinds> forecasts_by() const;

  /// Takes the epoch's readings in. The first call has no rates yet: every VM is stale in its
  /// snapshot.
  [[nodiscard]] placement::Snapshot advance(const placement::Sample& sample);

  [[nodiscard]] const std::map<placement::VmId, VmRecord>& vms() const { return vms_; }
  [[nodiscard]] const VmRecord* find(const placement::VmId& vm) const;
  /// False until set_domains() was called: which VMs run is not known yet.
  [[nodiscard]] bool knows_domains() const { return knows_domains_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  void fit_to_host(VmRecord& vm) const;
  void take_huge_pages(const placement::Sample& sample);
  void measure_vm(VmRecord& vm, const placement::Sample& sample,
                  placement::Snapshot& snapshot) const;
  [[nodiscard]] std::optional<VmUsage> read(VmRecord& vm, const placement::Sample& sample,
                                            placement::VmState& state) const;
  void add_client(const VmRecord& vm, std::size_t index, const VmUsage* usage,
                  placement::Snapshot& snapshot) const;
  void read_beside(VmRecord& vm, std::int64_t beside_us, placement::Microseconds at) const;
  [[nodiscard]] static placement::CpuTime beside(const VmRecord& vm,
                                                 const placement::ClientState& client,
                                                 placement::CpuTime epoch);
  static void add_beside(const VmRecord& vm, placement::Snapshot& snapshot);
  void limit_to_quota(const VmRecord& vm, placement::Snapshot& snapshot) const;
  [[nodiscard]] bool forecasts_hold() const;
  void look_ahead(const VmRecord& vm, placement::Snapshot& snapshot) const;
  void average_load(VmRecord& vm, bool measured_now, placement::Snapshot& snapshot) const;
  [[nodiscard]] std::vector<placement::Bytes> memory_of_cells(
      const VmRecord& vm, const std::vector<std::int32_t>& cells) const;
  void attribute_memory(const VmRecord& vm, placement::Snapshot& snapshot) const;
  void measure_nodes(const placement::Sample& sample, placement::Snapshot& snapshot);
  void average_shortages(placement::Snapshot& snapshot);
  /// Half-life of averages by which a shortage is expected to last.
  [[nodiscard]] placement::CpuTime recently() const {
    return placement::CpuTime{options_.shortage_half_life * 1'000'000};
  }
  void measure_chats(const placement::Sample& sample, placement::Snapshot& snapshot);
  void remember(const placement::Sample& sample, const placement::Snapshot& snapshot);
  [[nodiscard]] std::vector<placement::NodeIndex> ran_on(const ClientRecord& client) const;

  placement::Topology topology_;
  placement::Options options_;
  placement::ReservedMemory reserved_;
  std::optional<std::int64_t> local_read_ns_;
  std::map<placement::VmId, VmRecord> vms_;
  placement::LoadForecasts forecasts_;
  placement::Microseconds forecasts_end_;  ///< when they are worth nothing any more
  std::optional<placement::Sample> last_sample_;
  std::vector<placement::CpuTime> lasting_non_vm_;  ///< per node, averaged, per second
  std::vector<placement::CpuTime> newest_non_vm_;   ///< per node, of the last epoch, per second
  std::vector<placement::CpuTime> short_lately_;    ///< per node, averaged, per second
  Wakeups wakeups_;
  std::int64_t epochs_ = 0;
  bool knows_domains_ = false;  ///< set_domains was called at least once
};

}  // namespace vmnuma::balancer
