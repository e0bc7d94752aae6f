// SPDX-License-Identifier: Apache-2.0
/// What the executor is asked to carry out: an action of the plan with everything needed to carry
/// it out, check it and undo it without further queries. Plain values, stored in the journal as
/// they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "migration/domain_control.h"
#include "placement/model/domain.h"
#include "placement/model/plan.h"
#include "placement/model/sample.h"

namespace vmnuma::migration {

/// One thread's pin before and after; `before` is for undo. An empty `before` means "any CPU of the
/// host". For a thread without a pin, `before` is the set that libvirt was advised at the start, if
/// known.
struct PinChange {
  using Thread = ThreadId::Kind;
  Thread thread{};
  std::int32_t number = 0;  ///< as in ThreadId
  std::vector<CpuId> before;
  std::vector<CpuId> after;
  bool operator==(const PinChange&) const = default;
};

/// How much of a VM's memory should be on a node.
struct NodeQuota {
  NodeId node;
  Bytes bytes;
  bool operator==(const NodeQuota&) const = default;
};

/// The size of one guest NUMA cell's memory, and its home.
struct CellHome {
  Bytes size;  ///< of the whole cell, as the domain defines it
  NodeId node;
  bool operator==(const CellHome&) const = default;
};

/// The memory side of a VM: all its pages end up on the nodes of `quotas`, divided in their
/// proportion, to the extent that each node has room above its reserve. If the mappings of the
/// guest's cells can be identified, their pages end up on the nodes of `cells`, and only the rest
/// is divided.
struct MemoryChange {
  std::vector<NodeQuota> quotas;  ///< ascending node; empty = memory is left alone
  std::vector<CellHome> cells;    ///< ascending cell; empty if all have one home
  /// The nodes that libvirt currently allows the VM's memory, if that set is changed; empty = all.
  std::vector<NodeId> allowed_before;
  /// If not empty, the nodes that the memory may use in the end; missing ones are added before
  /// pages move, the others are removed afterwards. If empty in mode kMask: the nodes of `quotas`.
  std::vector<NodeId> allowed_after;
  bool operator==(const MemoryChange&) const = default;
};

/// One client's change of home, for the record. `from.value` is -1 at the first placement; `from`
/// equals `to` if only the client's CPUs within its home change.
struct HomeChange {
  std::int32_t client = 0;
  NodeId from;
  NodeId to;
  NodeId spills_to = {};  ///< it may use this node's CPUs in addition to those of `to`
  bool operator==(const HomeChange&) const = default;
};

/// One VM's part of an action.
struct VmChange {
  VmId vm;
  std::string vm_name;
  VmProcess process;              ///< must still match at every change
  std::int32_t domain_id = -1;    ///< likewise, in libvirt; negative: unknown
  std::vector<HomeChange> homes;  ///< empty if only memory is pulled
  std::vector<PinChange>
      pins;  ///< in the order in which they are made: vCPUs, emulator, I/O threads
  MemoryChange memory;
  MemoryMode memory_mode = MemoryMode::kSoft;
  bool operator==(const VmChange&) const = default;
};

[[nodiscard]] inline bool changes_memory(const VmChange& change) {
  return !change.memory.quotas.empty() || !change.memory.allowed_after.empty();
}

/// True if the change releases the VM: no client has a home afterwards, and everything is as it was
/// found.
[[nodiscard]] inline bool restores(const VmChange& change) {
  return !change.homes.empty() &&
         std::all_of(change.homes.begin(), change.homes.end(),
                     [](const HomeChange& home) { return home.to.value < 0; });
}

/// The run of the domain that the change is meant for.
[[nodiscard]] inline DomainRun run_of(const VmChange& change) {
  return {change.vm, change.domain_id};
}

struct Order {
  std::int64_t action = 0;  ///< its number, assigned by the controller, unique in the history
  std::int64_t epoch = 0;   ///< the epoch in which it was decided
  Reason reason{};
  std::vector<VmChange> changes;  ///< one, or two for a swap
  Prediction predicted;
  bool operator==(const Order&) const = default;

  /// True if it changes this VM.
  [[nodiscard]] bool concerns(const VmId& vm) const {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const VmChange& change) { return change.vm == vm; });
  }
};

}  // namespace vmnuma::migration
