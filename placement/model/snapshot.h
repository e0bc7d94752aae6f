// SPDX-License-Identifier: Apache-2.0
/// One epoch as the planner sees it: what every client used, wanted and was owed, and where its
/// memory lies.
///
/// Built by balancer/core/ledger.h from raw samples; read by everything that decides or reports.
/// Nodes are named by index into `topology.nodes`, clients by index into `clients`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/topology.h"
#include "placement/model/vm_figures.h"

namespace vmnuma {

using ClientIndex = std::size_t;
inline constexpr ClientIndex kNoClient = static_cast<ClientIndex>(-1);

/// memory.numa_stat is up to 2 s old (Linux 6.1, mm/memcontrol.c), so what a transfer left behind
/// is known only this many epochs after it.
inline constexpr std::int64_t kEpochsUntilCounted = 3;

/// The number of consecutive epochs without usable readings after which a VM may nevertheless begin
/// to spill.
inline constexpr std::int64_t kUnreadForLong = 5;

/// The value of VmState::pull_again_after once the memory left behind has proved unmovable.
inline constexpr std::int64_t kNotAgain = std::int64_t{1} << 40U;

/// A node's supply and load in this epoch.
struct NodeState {
  CpuTime physical;       ///< cores x epoch
  CpuTime threads;        ///< logical CPUs x epoch
  CpuTime non_vm;         ///< busy time that no client used and that lasts, at most `threads`
  CpuTime non_vm_now;     ///< the same for this epoch alone, including what does not last
  CpuTime set_aside;      ///< time of cores that belong to one client alone and idled
  CpuTime capacity;       ///< what the node can give to clients: service(threads) - non_vm
  CpuTime used;           ///< thread time its clients ran
  CpuTime demand;         ///< thread time its clients wanted
  CpuTime entitled;       ///< sum over its clients
  CpuTime owed;           ///< sum over its clients
  CpuTime short_lately;   ///< demand above `capacity`, exponentially weighted over some ten seconds
  Permille load_average;  ///< demand / capacity, exponentially weighted, pending load of new VMs
                          ///< included
  std::int32_t vcpus = 0;  ///< homed here
  Bytes free;
  Bytes total;
  Bytes reserve;      ///< what moves must leave free
  Bytes reserved;     ///< the least that `reserve` may be, whatever the options say
  bool known = true;  ///< false: its CPU or memory readings are missing, so nothing is moved to it
  /// False: two readings of its CPUs are not available, so `non_vm` and all that follows from it
  /// are held or assumed. Decides nothing: it keeps assumed values from being shown as measured.
  bool cpu_measured = true;
  bool memory_read = true;  ///< false: `free`, `total` and `reserve` are not known
  /// Memory that is kept for VMs that do not run yet, by page size, each once; the part on ordinary
  /// pages is part of `reserve`.
  std::vector<PagesOfSize> reservations = {};
  bool operator==(const NodeState&) const = default;
};

struct VmState {
  VmId id;
  std::string name;
  std::string guest_os;          ///< VmDescription::guest_os; decides nothing
  std::int32_t weight = 100;     ///< cpu.weight
  ClientIndex first_client = 0;  ///< its clients are consecutive
  std::size_t client_count = 0;
  CpuTime demand;
  CpuTime entitled;  ///< its fair share of the nodes that it can use, at most its demand
  Permille stall;    ///< share of its run time spent waiting for memory
  /// The same as counted by its CPUs; absent if they did not count, or if the count is not used.
  std::optional<Permille> counted_stall = std::nullopt;
  std::string memory_stays_because;  ///< empty if its memory can be moved
  /// Every vCPU uses all of its memory: its guest has no NUMA cells, or some that are too large for
  /// a node; the memory is then shared out over all its clients' nodes.
  bool shares_memory = false;
  Bytes huge_page_size;  ///< hugetlbfs page size of its memory, the largest; zero: ordinary
  VmPolicy policy;
  /// False: readings are missing or stale, and those here are the last ones. The VM is not touched,
  /// except that after kUnreadForLong epochs it may begin to spill: it gains CPUs and loses none.
  bool fresh = true;
  std::string stale_because;
  /// How many consecutive epochs had no good readings; 0 if the VM is untouched for another reason.
  std::int64_t epochs_stale = 0;
  bool measured = true;  ///< false: only just seen, demand assumed; it may be placed, not moved
  std::vector<NodeIndex> suggested;     ///< where libvirt was told to start it; its first homes
  std::vector<NodeIndex> device_nodes;  ///< of its devices, those that matter to it; ascending
  std::vector<NodeIndex> wished_nodes;  ///< of its host interfaces and disks, only a preference
  bool transferring = false;            ///< pages of it are being moved
  Bytes left_behind;                    ///< what its last transfer could not bring home
  std::int64_t epochs_since_transfer = 1'000'000;
  /// Epochs since it last left a home, with a transfer in progress and without.
  std::int64_t epochs_travelled = 0;
  std::int64_t epochs_rested = 1'000'000;
  /// Epochs from its last transfer until the next attempt to bring what was left behind, or
  /// kNotAgain.
  std::int64_t pull_again_after = 0;
  /// False: its CPU times in this epoch are held or assumed. Decides nothing, as in NodeState.
  bool cpu_measured = true;
  VmFigures figures = {};  ///< decide nothing
  bool operator==(const VmState&) const = default;

  /// Returns the index after its last client.
  [[nodiscard]] ClientIndex end_client() const { return first_client + client_count; }
};

/// What a client is expected to want per epoch over the next ten minutes.
struct Ahead {
  CpuTime mean;
  CpuTime p95;  ///< what 95 of 100 minutes do not exceed
  bool operator==(const Ahead&) const = default;
};

struct ClientState {
  ClientId id;
  std::size_t vm = 0;               ///< index in Snapshot::vms
  std::vector<std::int32_t> vcpus;  ///< ascending
  NodeIndex home = kNoNode;         ///< kNoNode until placed
  CpuTime used;    ///< thread time run in the epoch, its part of QEMU's other threads included
  CpuTime ready;   ///< runnable but waiting
  CpuTime demand;  ///< used + ready - throttled wait; vCPUs' part capped at full time and quota
  CpuTime load;    ///< demand, exponentially weighted, with pending load while new
  CpuTime recent;  ///< demand, exponentially weighted over some ten seconds
  std::optional<Ahead> ahead;  ///< absent where nothing is known
  CpuTime effective_used;      ///< used, discounted for shared cores
  CpuTime entitled;
  CpuTime owed;
  std::vector<CpuTime> owed_before;  ///< of the epochs before this one that count for long-term
                                     ///< fairness, newest first
  CpuTime owed_on_average;           ///< per epoch over minutes, exponentially weighted
  std::int64_t weight = 0;           ///< its part of the VM's weight, in thousandths
  Bytes memory_size;                 ///< its part of the VM's memory
  /// The page size of that part, if its guest cells differ from the rest of the VM; zero: ordinary.
  std::optional<Bytes> page_size = std::nullopt;
  std::vector<Bytes> memory;  ///< where that part lies, per node; the sum is the resident memory
  bool memory_known = false;
  std::vector<NodeIndex> allowed;      ///< nodes it may live on, ascending
  std::vector<NodeIndex> bound_to;     ///< its memory is bound to these, ascending; empty: any
  std::int64_t epochs_here = 0;        ///< since its last move; 1 in the first epoch after it
  NodeIndex came_from = kNoNode;       ///< the node it last left
  std::int64_t epochs_since_swap = 0;  ///< large if it was never swapped
  bool moving = false;                 ///< an action on it is being carried out
  std::int32_t exclusive_cores = 0;    ///< cores of its home that belong to it alone
  NodeIndex spills_to = kNoNode;       ///< it may run on the CPUs of this node as well
  CpuTime spill_saves;                 ///< per epoch, exponentially weighted; may be negative
  bool operator==(const ClientState&) const = default;

  [[nodiscard]] std::int32_t vcpu_count() const { return static_cast<std::int32_t>(vcpus.size()); }
  /// Returns how much of its memory lies on its home; zero if it has none.
  [[nodiscard]] Bytes local_memory() const { return home < memory.size() ? memory[home] : Bytes{}; }
};

/// Two VMs that talk to each other: their threads, including those of vhost, wake each other.
struct Chat {
  VmId a;  ///< < b
  VmId b;
  WakeupRate rate;  ///< exponentially weighted
  bool operator==(const Chat&) const = default;
};

struct Snapshot {
  std::int64_t epoch = 0;
  CpuTime epoch_length;  ///< of one CPU
  Topology topology;
  std::vector<NodeState> nodes;      ///< as topology.nodes
  std::vector<VmState> vms;          ///< ascending id
  std::vector<ClientState> clients;  ///< by VM, then index
  std::vector<Chat> chats;           ///< by a, b; those that matter
  bool operator==(const Snapshot&) const = default;
};

/// Returns the VM's clients.
[[nodiscard]] inline std::span<const ClientState> clients_of(const Snapshot& snapshot,
                                                             const VmState& vm) {
  return std::span(snapshot.clients).subspan(vm.first_client, vm.client_count);
}
[[nodiscard]] inline std::span<ClientState> clients_of(Snapshot& snapshot, const VmState& vm) {
  return std::span(snapshot.clients).subspan(vm.first_client, vm.client_count);
}

/// Returns the nodes that can be a home and have known readings, ascending.
[[nodiscard]] std::vector<NodeIndex> known_homes(const Snapshot& snapshot);

/// Returns the largest difference between two of the nodes' shares; zero without any.
[[nodiscard]] Permille imbalance_of(const std::vector<Permille>& shares);

/// Returns what all nodes together can give to clients.
[[nodiscard]] CpuTime capacity_of_host(const Snapshot& snapshot);

/// Returns how much of the node's memory on pages of that size is kept for VMs that do not run yet.
[[nodiscard]] Bytes reservations_of(const NodeState& node, Bytes page_size);

/// Returns the size of the pages that the client's memory consists of; zero: ordinary ones. If its
/// guest cells have several, all of it counts as on the VM's largest.
[[nodiscard]] Bytes page_size_of(const Snapshot& snapshot, const ClientState& client);

/// Returns true if anything was measured in the epoch from which the host's lost time and imbalance
/// can be derived.
[[nodiscard]] bool is_measured(const Snapshot& snapshot);

/// Finds the VM by binary search on its id; null if there is none.
[[nodiscard]] const VmState* find_vm(const Snapshot& snapshot, const VmId& id);
/// Returns the client's index in `snapshot.clients`; kNoClient if it has none.
[[nodiscard]] ClientIndex index_of(const Snapshot& snapshot, const ClientId& id);
/// Returns the client itself; null if there is none.
[[nodiscard]] const ClientState* find_client(const Snapshot& snapshot, const ClientId& id);

}  // namespace vmnuma
