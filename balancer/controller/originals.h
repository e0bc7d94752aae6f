// SPDX-License-Identifier: Apache-2.0
/// How VMs were before the first order changed them, and how to restore that.
///
/// Problem: a released VM should be as it was found, even after restarts of the daemon and many
/// moves, while pins made externally since then must stay. Approach: an order contains the old and
/// the new pin of each thread. The first order of a process therefore shows what was found, and all
/// of them together show which pins are ours. Orders are recorded when they are given. After a
/// restart they are read from the history, which also has the originals themselves, because it
/// deletes old orders (service/remembered.h). Terms: *process* - one life of a VM; what was found
/// is valid for that life only.
/// Properties:
///  1. Recording the same orders in the same order gives the same originals, however often the
///     daemon was restarted.
///  2. A pin that is not ours is left as it is, and a pin made externally between two orders is
///     what was found. A dropped order changes nothing.
///  3. Restoring changes vCPUs first, then the emulator, then I/O threads.
///  4. A set of memory nodes is narrowed only together with moving the memory outside it, and not
///     at all if memory may not be moved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "migration/order.h"
#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

using migration::ThreadId;

/// The original state of one VM.
struct Original {
  struct Pins {
    std::vector<CpuId> found;              ///< empty: any CPU; as in PinChange::before
    std::vector<std::vector<CpuId>> ours;  ///< what orders set it to, each once
    bool operator==(const Pins&) const = default;
  };
  VmProcess process;
  std::map<ThreadId, Pins> threads;
  /// The nodes that its memory could use before an order first changed them; empty: all. Nothing if
  /// no order changed them.
  std::optional<std::vector<NodeId>> memory_nodes;
  bool operator==(const Original&) const = default;
};

using Originals = std::map<VmId, Original>;

/// What an order is the first to change.
struct FirstChanges {
  std::vector<std::pair<ThreadId, std::vector<CpuId>>> pins;  ///< what no order set a thread to
  bool memory_nodes = false;
};

/// Records what an order changes. If an earlier process of the VM is recorded, it is forgotten.
FirstChanges record_change(Original& original, const migration::VmChange& change);
/// Forgets pins that were recorded but never made.
void forget_pins(Original& original, const FirstChanges& changes);
/// Forgets a change of memory nodes that was recorded but never made.
void forget_memory_nodes(Original& original, const FirstChanges& changes);
/// Does the same for all VMs of an order.
void record_order(Originals& originals, const migration::Order& order);

/// The nodes that a VM's memory may use if nothing limits it, as passed to libvirt. Ascending.
[[nodiscard]] std::vector<NodeId> nodes_with_memory(const Topology& topology);

/// A change of this process of the VM, without anything to change.
[[nodiscard]] migration::VmChange empty_change(const VmDescription& vm, const VmProcess& process);

/// Returns the change that restores a VM: its process, pins and memory; without pins or memory
/// nodes if these are as they were found. `now` is the VM's newest reading. If `original` is null,
/// it is not known what was found, and every thread may run anywhere again. `is_under_way`: an
/// order may have pinned threads since `vm` was read, so those that seem to be as found are pinned,
/// too.
[[nodiscard]] migration::VmChange change_to_original(const VmDescription& vm, const VmSample& now,
                                                     const Original* original,
                                                     const Topology& topology,
                                                     bool is_under_way = false);

/// Returns the change that adds the memory nodes that the VM was found with to those that it may
/// use now; without nodes if it may use them all, or if its set was never changed.
[[nodiscard]] migration::MemoryChange widened_as_found(const VmDescription& vm,
                                                       const Original& original,
                                                       const Topology& topology);

}  // namespace vmnuma::balancer
