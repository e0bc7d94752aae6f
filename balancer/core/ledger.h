// SPDX-License-Identifier: Apache-2.0
/// The balancer's memory: turns each epoch's raw counters into what clients used, wanted and were
/// owed.
///
/// Problem: the kernel provides counters that only grow, VMs come and go between two readings, and
/// decisions need things that no reading contains: homes, how long a client has lived there, what
/// it was owed before. Approach: the ledger keeps the last sample and one record per client.
/// `advance` processes the next sample and returns a Snapshot, which holds everything a decision
/// needs: VMs are measured first (vm_measurement.h), then nodes (node_measurement.h), and then CPU
/// time is shared out (entitlement.h). Homes change only through set_home, restore_home,
/// adopt_home and forget_home, and a client loses its home if it may no longer live there. A VM or
/// node that cannot be read for a while keeps its former numbers, so that its load does not seem to
/// be gone.
/// Terms: *bound* - the client's vCPUs are pinned to its home, so its time was used there. *Pending
/// load* - the load that is assumed for a VM that was just placed; it gives way to the measured
/// load within a minute. *Held* - the newest numbers known, instead of a reading.
/// Properties:
///  1. Numbers come only from the readings of one epoch and the one before it, and only if these
///     are less than eight minutes apart.
///  2. A counter that went backwards, a process that changed or a thread that is missing makes its
///     VM stale for this epoch; its record is kept and its numbers are held.
///  3. Time that a VM was throttled by its own quota is not owed.
///  4. Load that is present in one epoch only does not count as non-VM load.
///  5. Idle time of a core that belongs to one client alone is set aside: no other client can have
///     it.
///  6. Equal inputs give equal snapshots.
///  7. Values that are held or assumed are marked as such (cpu_measured, memory_read).
///  8. A client that has a home when the daemon starts and first sees it counts as having been
///     there for Numa.Residency, once it has been measured; one that gets a home later does not.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "balancer/core/node_measurement.h"
#include "balancer/core/records.h"
#include "balancer/core/wakeups.h"
#include "placement/model/domain.h"
#include "placement/model/forecast.h"
#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/reserved_memory.h"
#include "placement/model/sample.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Has a function for each thing that can happen to a VM or its clients between two epochs.
class Ledger {
 public:
  Ledger(Topology topology, Options options);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Options& options() const { return options_; }
  void set_options(const Options& options);
  /// Sets how much each node keeps for the system, if that is more than Numa.NodeReservePct.
  void set_reserved_memory(ReservedMemory reserved) { reserved_ = std::move(reserved); }
  /// Sets the duration of a read of a node's own memory, which turns the reads that CPUs counted
  /// into prices of single VMs. Nothing: all VMs have the host's price, because an administrator
  /// has set it.
  void set_local_read_ns(std::optional<std::int64_t> local_read_ns) {
    local_read_ns_ = local_read_ns;
  }
  /// Takes over a changed host. Clients whose home no longer exists have none. If only distances
  /// differ, everything known is kept.
  void set_topology(Topology topology);

  /// Takes over the list of all running VMs, ascending id. New ones get a record, vanished ones
  /// lose theirs. A VM that is split differently because its vCPUs or policy changed starts with
  /// its former homes, to the extent that the clients correspond.
  void set_domains(const std::vector<VmDescription>& running);

  /// Gives a client a home; no effect if it has that one already. Unknown clients and nodes are
  /// ignored. Swaps are recorded, so that the client is not swapped again soon.
  void set_home(const ClientId& client, NodeId node, Reason reason);
  /// Counts a move that was carried out; `reason` selects the column. Placements are not counted.
  void count_move(const ClientId& client, Reason reason);
  /// Gives a client back the home that it had before an order that was not carried out. The node it
  /// had come from before is restored, too, and it has to stay as long as if it had just arrived.
  void restore_home(const ClientId& client, NodeId node);
  /// Takes over a home that was found or remembered, without counting a move.
  void adopt_home(const ClientId& client, NodeId node);
  /// Records where libvirt was told to start the VM: its clients get their first homes there if
  /// possible. Forgotten with the first move.
  void set_suggested(const VmId& vm, std::vector<NodeId> nodes);
  /// Lets the client run on the CPUs of that node as well as on those of its home; value -1: at
  /// home only. A new home ends the spill, and a client without a home cannot have one.
  void set_spill(const ClientId& client, NodeId node);
  /// Returns the VMs that have a client that spills.
  [[nodiscard]] std::set<VmId> spilling() const;
  /// Records what each spill is estimated to have saved recently. Clients that do not spill are
  /// ignored.
  void record_spills(const std::vector<Spill>& spills, CpuTime epoch);
  /// Takes a client's home away; it will be placed again.
  void forget_home(const ClientId& client);
  void set_moving(const VmId& vm, bool moving);
  /// Sets how many cores of its home belong to the client alone.
  void set_exclusive_cores(const ClientId& client, std::int32_t cores);
  /// Record that a transfer of the VM's pages begins, and that it ended: with that many bytes
  /// moved, and at least `left_behind` still remote. What is really left is what later readings
  /// show: they also count pages that cannot be moved at all, such as program text. What was left
  /// is tried again after 6 epochs, then 18, 54, 162 and 300; once that moved next to nothing, only
  /// if more memory becomes remote, or after a change of homes.
  void transfer_began(const VmId& vm);
  void transfer_ended(const VmId& vm, Bytes moved, Bytes left_behind);
  void set_expected_load(const VmId& vm, Permille per_vcpu);
  /// Returns the demand assumed for the VM when it starts, as a share of its vCPUs' full time.
  [[nodiscard]] Permille start_load(const VmId& vm) const;
  /// Replaces all former forecasts. They are valid for ten minutes.
  void set_forecasts(LoadForecasts forecasts);
  /// Returns for how many of the VMs a forecast counts, by predictor.
  [[nodiscard]] std::array<std::int64_t, kPredictorKinds> forecasts_by() const;

  /// Processes the epoch's readings. After the first call there are no rates yet: every VM is stale
  /// in its snapshot.
  [[nodiscard]] Snapshot advance(const Sample& sample);

  [[nodiscard]] const std::map<VmId, VmRecord>& vms() const { return vms_; }
  [[nodiscard]] const VmRecord* find(const VmId& vm) const;
  /// False until set_domains() was called: until then it is not known which VMs run.
  [[nodiscard]] bool knows_domains() const { return knows_domains_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  void fit_to_host(VmRecord& vm) const;
  void take_huge_pages(const Sample& sample);
  [[nodiscard]] bool forecasts_hold() const;
  void measure_chats(const Sample& sample, Snapshot& snapshot);
  void remember(const Sample& sample, const Snapshot& snapshot);

  Topology topology_;
  Options options_;
  ReservedMemory reserved_;
  std::optional<std::int64_t> local_read_ns_;
  std::map<VmId, VmRecord> vms_;
  LoadForecasts forecasts_;
  Microseconds forecasts_end_;  ///< when they expire
  std::optional<Sample> last_sample_;
  NodeAverages node_averages_;
  Wakeups wakeups_;
  std::int64_t epochs_ = 0;
  bool knows_domains_ = false;  ///< set_domains was called at least once
};

}  // namespace vmnuma::balancer
