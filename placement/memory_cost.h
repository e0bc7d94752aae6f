// SPDX-License-Identifier: Apache-2.0
/// What far memory costs a client, permanently and in transit, in lost CPU time.
///
/// Problem: a client loses time to remote memory, but bringing the memory home costs CPU and takes
/// longer than an epoch. Both must be weighed in the one currency of every decision. Approach: a
/// client that wants `demand` waits for memory during `stall` of it; each access to a node at SLIT
/// distance d takes d/10 of a local one, so memory share s there loses demand x stall x s x (d -
/// 10) / 10. Memory that cannot follow loses this in every epoch (*standing loss*); memory that
/// follows at the permitted rate loses it while it is in transit, within the horizon, plus the CPU
/// time of copying (*travel cost*). A VM that is split into clients and has no guest NUMA cells
/// uses all its memory from every vCPU, while each client keeps its part of the memory at its home:
/// each loses time to the memory at its siblings' homes, in proportion to their vCPUs, for as long
/// as they live apart.
///
/// Properties:
///  - all-local memory costs nothing;
///  - both costs grow with distance, share and demand;
///  - a client that is already where its memory is never pays for staying;
///  - siblings on one node lose nothing to each other; otherwise both lose the same;
///  - a VM without a count of its own has the host's price, and no VM's price differs from the
///    host's by more than a factor of kMostTimesHost;
///  - nothing is counted beyond the horizon (placement/arrangement.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma {

/// Where a client's resident memory of its kind of pages lies (placement/memory_room.h); nodes that
/// hold none of it are left out.
struct MemoryProfile {
  struct Part {
    NodeIndex node = kNoNode;
    Bytes bytes;
    Permille share;  ///< of `resident`, rounded down
  };
  CpuTime demand;  ///< the thread time that the client wants; waiting for memory is a share of it
  std::int64_t horizon = 0;  ///< epochs after which nothing is counted
  Bytes resident;
  Bytes promised;           ///< guaranteed in addition to `resident`, wherever it lives
  std::vector<Part> parts;  ///< ascending node
  /// Its pages may be moved: its readings are known, the VM's memory is movable, the option is on.
  bool can_follow = false;

  [[nodiscard]] Bytes on(NodeIndex node) const;
  [[nodiscard]] Bytes not_on(NodeIndex node) const { return resident - on(node); }
  /// Returns the share of the resident memory on `node`; everything if nothing is resident.
  [[nodiscard]] Permille locality(NodeIndex node) const {
    return permille_of(on(node).value, resident.value, Permille{1000});
  }
};
[[nodiscard]] MemoryProfile memory_profile(const Snapshot& snapshot, const ClientState& client,
                                           const Options& options);

/// How long a read of a node's own memory takes on the hosts for which 30 % of waiting, the default
/// of Numa.MemStallPct, was chosen: idle two-socket servers of the last ten years (80 to 100 ns).
inline constexpr std::int64_t kTypicalReadNs = 90;
/// No server's memory is faster or slower; measurements outside this range, as under emulation,
/// count as its nearest end.
inline constexpr std::int64_t kShortestReadNs = 40;
inline constexpr std::int64_t kLongestReadNs = 400;
[[nodiscard]] constexpr std::int64_t usable_read_ns(std::int64_t measured_ns) {
  return std::clamp(measured_ns, kShortestReadNs, kLongestReadNs);
}
/// A VM's own counts raise its price to at most this multiple of the host's, or lower it to at
/// least this fraction: counters do not show prefetched and overlapping reads, and tomorrow the VM
/// may do something else.
inline constexpr std::int64_t kMostTimesHost = 4;

/// Returns the share of its run time that a VM is assumed to wait for memory: what its CPUs
/// counted, within bounds, or else the host's.
[[nodiscard]] Permille reckoned_stall(std::optional<Permille> counted, const Options& options);
/// Returns the same, weighted as its policy asks.
[[nodiscard]] Permille stall_of(const VmPolicy& policy, std::optional<Permille> counted,
                                const Options& options);

/// Returns the time lost per epoch at home `node` with the memory where it lies now.
[[nodiscard]] CpuTime present_loss(const Snapshot& snapshot, const ClientState& client,
                                   const MemoryProfile& memory, NodeIndex node,
                                   const Options& options);

/// Returns true for a VM of several clients each of which uses the memory of all: its guest has no
/// NUMA cells. Its demand must be known.
[[nodiscard]] inline bool is_one_memory(const VmState& vm) {
  return vm.shares_memory && vm.measured && vm.client_count > 1;
}

/// A client of such a VM, and where it is assumed to live.
struct Sibling {
  ClientIndex client = kNoClient;
  NodeIndex node = kNoNode;
  CpuTime demand;
};
/// Returns the time that the two lose per epoch on the way to each other's part of the memory.
/// `vcpus`: those of all clients of their VM (vcpus_of()), which a caller with many pairs counts
/// once.
[[nodiscard]] CpuTime lost_between(const Snapshot& snapshot, const Sibling& a, const Sibling& b,
                                   std::int64_t vcpus, const Options& options);
/// Returns the number of vCPUs of all clients of the VM.
[[nodiscard]] std::int64_t vcpus_of(const Snapshot& snapshot, const VmState& vm);

/// What living on `node` costs in memory if the client has `room` bytes free there.
struct MemoryCost {
  CpuTime standing;  ///< per epoch, permanently
  CpuTime travel;    ///< once
  Bytes to_move;     ///< what would move
  bool fits = true;  ///< there is room for all memory that should follow
  bool operator==(const MemoryCost&) const = default;
};
[[nodiscard]] MemoryCost memory_cost(const Snapshot& snapshot, const ClientState& client,
                                     const MemoryProfile& memory, NodeIndex node, Bytes room,
                                     const Options& options);

}  // namespace vmnuma
