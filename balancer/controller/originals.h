// SPDX-License-Identifier: Apache-2.0
/// What VMs were like before the first order touched them, and the way back there.
///
/// Problem: a VM that is released should be as it was found, also after the daemon was restarted
/// and after many moves, while pins that somebody else has made since are to stay. Approach: an
/// order says for each thread how it was pinned and how it shall be; the first order of a process
/// tells what was found, and all of them what is ours. Orders are noted as they are given, and
/// after a restart once more from the history, so nothing else has to be kept. Terms: *process* -
/// one life of a VM; what was found counts for that life only. Properties:
///  1. Noting the same orders in the same order gives the same originals, however often the daemon
///     was restarted.
///  2. A pin that is none of ours is left as it is, and what somebody pinned between two orders is
///     what was found.
///  3. A way back restores vCPUs first, then the emulator, then I/O threads.
///  4. A set of memory nodes is made smaller only together with moves of what lies outside it, and
///     not at all where memory may not be moved.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "migration/order.h"
#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// A thread of a VM.
struct ThreadId {
  migration::PinChange::Thread kind{};
  std::int32_t number = 0;
  auto operator<=>(const ThreadId&) const = default;
};

/// One VM's.
struct Original {
  struct Pins {
    std::vector<placement::CpuId> found;              ///< empty: any CPU
    std::vector<std::vector<placement::CpuId>> ours;  ///< what orders made of it, each once
    bool operator==(const Pins&) const = default;
  };
  placement::VmProcess process;
  std::map<ThreadId, Pins> threads;
  /// The nodes that its memory could use before an order first changed them; empty: all. Nothing
  /// if none did.
  std::optional<std::vector<placement::NodeId>> memory_nodes;
  bool operator==(const Original&) const = default;
};

using Originals = std::map<placement::VmId, Original>;

/// Notes what an order changes. An older process of the VM is forgotten.
void note_change(Original& original, const migration::VmChange& change);
/// The same of all its VMs.
void note_order(Originals& originals, const migration::Order& order);

/// Those that a VM's memory may be on if nothing limits it, as libvirt is told. Ascending.
[[nodiscard]] std::vector<placement::NodeId> nodes_with_memory(const placement::Topology& topology);

/// What restores a VM: its process, pins and memory; no pins and no memory nodes if it is as it
/// was found. `now` is its newest reading. `original` is null if nothing is known of what was
/// found: then every thread may run anywhere again.
[[nodiscard]] migration::VmChange way_back(const placement::VmDescription& vm,
                                           const placement::VmSample& now, const Original* original,
                                           const placement::Topology& topology);

/// What adds the nodes that the VM's memory could use when it was found to those that it may use
/// now; no nodes if it may use them all, or if its set was never changed.
[[nodiscard]] migration::MemoryChange widened_as_found(const placement::VmDescription& vm,
                                                       const Original& original,
                                                       const placement::Topology& topology);

}  // namespace vmnuma::balancer
