// SPDX-License-Identifier: Apache-2.0
/// What a VM's definition should contain on a host, and why.
///
/// Problem: how many NUMA nodes a guest sees, and how its vCPUs and memory are shared out over
/// them, is written by hand in domain XML, and a mistake there costs the guest for all its life:
/// cells that no node can hold, sockets across nodes, threads where there are none, no cells in a
/// VM that is wider than a node. Approach: one pure function from the needs of a VM and the
/// properties of a host to a value that contains every line of the definition with its reason and
/// the rule that it follows from. It splits the VM with the same function that the planner uses
/// (placement/clients.h), so that a cell becomes a client and is never split.
///
/// Terms: *cell* - a guest NUMA node. *Binding* - where memory starts.
/// Properties:
///  1. The cells have every vCPU once, in order, and their memory adds up to the VM's (rounded up
///     to whole MiB or huge pages).
///  2. A cell fits every node that the VM may live on, by vCPUs and by memory, or a warning reports
///     that it does not.
///  3. sockets x dies x cores x threads is the number of vCPUs, and no socket lies in two cells.
///  4. A VM that already follows the advice gets the same advice, possibly with other reasons.
///  5. A VM that follows the advice is split into clients that are the cells, as long as there is a
///     node for each of them; there are never more cells than nodes.
///  6. Two cells differ by at most one core.
///  7. vCPUs of which the guest is told that they share a cache do share one, as long as they run
///     where the advice puts them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/base/names.h"
#include "placement/base/result.h"
#include "placement/model/device_pool.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// The host on which a VM will run.
struct AdviceHost {
  Topology topology;
  /// Free memory of each node at present, in the order of the topology's nodes; empty: not known.
  std::vector<Bytes> free;
  /// Free huge pages of each node; empty: not known.
  std::vector<std::vector<HugePagePool>> free_huge_pages;
  bool prefer_ht = false;  ///< Numa.PreferHT of its daemon
  bool operator==(const AdviceHost&) const = default;
};

/// What the definition of a VM says in addition to its VmDescription.
struct AdviceRequest {
  VmDescription vm;
  bool memory_hotplug = false;    ///< <maxMemory>, which libvirt takes only with a cell
  std::int32_t virtio_disks = 0;  ///< disks that an I/O thread can serve
  bool is_x86 = true;             ///< only there can QEMU be told which caches to present
  std::vector<DevicePool> pools;  ///< of the host, with the nodes of those devices that are present
  std::vector<HeldDevice> held;   ///< from any pool, by any VM
};

/// Which part of a definition a line of advice is about.
enum class AdviceAbout {
  kDevices,
  kCells,
  kTopology,
  kThreads,
  kFeatures,
  kDistances,
  kCache,
  kStart,
  kMemory,
  kPages,
  kIoThreads,
  kIoThreadPins
};
[[nodiscard]] constexpr auto names(AdviceAbout) {
  return names_in_order<AdviceAbout>("devices", "cells", "topology", "threads", "features",
                                     "distances", "cache", "start", "memory", "pages", "io-threads",
                                     "io-thread-pins");
}

struct AdviceLine {
  AdviceAbout about{};
  std::string what;    ///< "2 cells of 6 vCPUs"
  std::string reason;  ///< a sentence
  std::string rule;    ///< where it comes from
  bool operator==(const AdviceLine&) const = default;
};

/// How a VM's memory is bound when it starts.
enum class AdvisedBinding {
  kAuto,   ///< restrictive, on the nodes that libvirt gets from numad
  kNodes,  ///< restrictive, on certain nodes: the administrator has named them
  kCells,  ///< each cell on a node of its own, permanently
};

/// A PCI device that the VM should have.
struct AdvisedDevice {
  std::string address;
  std::string instead_of;  ///< a device that it has now; empty: one more, unless it has this one
  bool operator==(const AdvisedDevice&) const = default;
};

struct Advice {
  std::vector<AdvisedDevice> devices;  ///< of pools
  std::int32_t vcpus = 0;              ///< the most that the VM can have
  Bytes memory;
  Bytes page_size;  ///< of its huge pages; zero: ordinary ones
  std::int32_t sockets = 0;
  std::int32_t dies = 1;
  std::int32_t cores = 0;
  std::int32_t threads = 1;
  std::vector<GuestCell> cells;  ///< empty: the guest sees one node
  /// Row by row; empty: 10 and 20, which guests assume.
  std::vector<std::int32_t> distances;
  bool shows_cache = false;  ///< one L3 cache for each die
  AdvisedBinding binding{};
  std::vector<NodeId> nodes;       ///< kNodes and kCells: all nodes that its memory is on
  std::vector<NodeId> cell_nodes;  ///< kCells: the node of each cell
  std::int32_t io_threads = 0;     ///< 0: as they are
  std::vector<Pin> io_thread_pins;
  std::vector<AdviceLine> lines;
  bool operator==(const Advice&) const = default;
};

/// Returns the advice for a VM. `vm.policy` is the effective one; vCPUs that are not plugged count
/// as well. Errors: no-space if the host has no node to live on, invalid-argument for a VM without
/// vCPUs or memory.
[[nodiscard]] Result<Advice> advise(const AdviceRequest& request, const AdviceHost& host);

}  // namespace vmnuma
