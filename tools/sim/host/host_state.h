// SPDX-License-Identifier: Apache-2.0
/// The state of a simulated host: VMs with their vCPUs, nodes with their CPUs, and memory.
///
/// Read and changed by host_cpus.h, host_memory.h, sim_libvirt.h, sim_kernel.h and sim_host.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "tools/sim/host/sim_memory.h"
#include "tools/sim/host/sim_numa_scanner.h"
#include "tools/sim/host/sim_talks.h"
#include "tools/sim/host/truth.h"
#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// One page migration call that moved pages.
struct PageMove {
  Microseconds at;
  VmId vm;
  NodeId to;
  Bytes moved;
  Bytes free_told;  ///< free memory of the target as last reported to a mover, minus what all
                    ///< movers have moved there since
  Bytes left;       ///< free memory of the target afterwards
  bool huge_pages =
      false;  ///< moved from pool to pool, which does not affect the nodes' free memory
};

struct SimVcpu {
  NodeIndex node = kNoNode;
  CpuTime wants;                  ///< in this while
  CpuTime ran;                    ///< in this while
  CpuTime overhead;               ///< run time spent on faults and copies; not yet reported
  CpuTime queued;                 ///< since the thread came to this node
  std::vector<NodeIndex> places;  ///< where the thread may run
  std::int64_t ran_us = 0;
  std::int64_t waited_us = 0;
  std::int64_t reads = 0;               ///< from memory, since it started
  std::int64_t not_yet_touched_us = 0;  ///< run time that has not led to a whole page yet
  VcpuTruth truth;
};

struct SimVm {
  ScenarioVm spec;
  SimMemory::Owner owner = 0;
  VmDescription description;
  VmProcess process;
  std::vector<SimVcpu> vcpus;
  Random random{0};  ///< of its load
  Random users{0};   ///< chooses the vCPU that uses a page next
  std::int64_t load_pct = 0;
  std::int64_t beside_us = 0;             ///< of threads other than vCPUs, since it started
  std::int64_t throttled_us = 0;          ///< by its limit, since it started
  std::int64_t turn = 0;                  ///< of interleaved memory
  std::optional<SimNumaScanner> scanner;  ///< present if the kernel balances the VM
  NodeIndex prefers = kNoNode;            ///< the node that the kernel prefers for its threads
  bool places_are_known = false;
  bool refuses_pins = false;
  bool pages_busy = false;
  bool finds_no_memory = false;
  bool slow_pins = false;
};

struct SimNode {
  std::vector<Cpu> cpus;  ///< all CPUs, including offline ones
  std::vector<OtherLoad> other_loads;
  std::int64_t other_pct = 0;   ///< loads that stay on the node, in this epoch
  CpuTime roaming;              ///< what loads without a node want of this node, in this while
  CpuTime moving;               ///< time of page moves that no thread has waited for yet
  Bytes moved;                  ///< to and from, in this while
  std::int64_t busy_us = 0;     ///< since the host started
  std::int64_t copying_us = 0;  ///< part of it that page moves took
  CpuTime others;               ///< in this epoch
  CpuTime roamed;               ///< part of it; at most what loads without a node used
};

struct HostState {
  /// The time of the worker that uses the ports; it sets this before a call, and calls advance it.
  Microseconds& clock;
  std::uint64_t seed = 0;
  Topology topology;  ///< with the CPUs that are online
  std::vector<SimNode> nodes;
  SimMemory memory;
  std::map<VmId, SimVm> vms;
  SimTalks talks;
  std::vector<PageMove> moves;  ///< since they were last taken
  bool domains_changed = true;  ///< since libvirt was last asked

  /// Returns the VM, or null if it does not run.
  [[nodiscard]] SimVm* find(const VmId& vm);
  /// Returns for each node how many of the VM's vCPUs last ran there. The VM must be running.
  [[nodiscard]] std::vector<std::int32_t> vcpus_on(const VmId& vm) const;

  [[nodiscard]] bool memory_may_be_on(const SimVm& vm, NodeIndex node) const;
  [[nodiscard]] std::vector<NodeIndex> memory_nodes_for(const SimVm& vm) const;

  /// Returns the time to copy a page: within a node at 10 GB/s, between nodes longer in proportion
  /// to the distance.
  [[nodiscard]] Microseconds copy_time(NodeIndex from, NodeIndex to) const;
  /// Accounts for a copy, which takes bandwidth of both nodes and time of a CPU of the target.
  void record_copy(NodeIndex from, NodeIndex to, CpuTime time);
  /// Returns whether the page cannot be moved; for the same page and `manner` the answer is always
  /// the same.
  [[nodiscard]] bool is_busy(const SimVm& vm, std::int64_t page, std::uint64_t manner) const;
};

/// Makes or changes the pin of that number.
void set_pin(std::vector<Pin>& pins, std::int32_t number, const std::vector<CpuId>& cpus);

/// Returns the guest cell whose memory the vCPU uses.
[[nodiscard]] std::size_t cell_of(const SimVm& vm, std::size_t vcpu);

}  // namespace vmnuma::tools
