// SPDX-License-Identifier: Apache-2.0
/// What a simulated host is made of: VMs with their vCPUs, nodes with their CPUs, and memory.
///
/// Read and changed by what goes on there: host_cpus.h, host_memory.h, sim_libvirt.h, sim_kernel.h
/// and sim_host.h, each of which says what it does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "tools/sim/host/sim_clock.h"
#include "tools/sim/host/sim_memory.h"
#include "tools/sim/host/sim_numa_scanner.h"
#include "tools/sim/host/sim_talks.h"
#include "tools/sim/host/truth.h"
#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// One page migration call that moved something.
struct PageMove {
  placement::Microseconds at;
  placement::VmId vm;
  placement::NodeId to;
  placement::Bytes moved;
  placement::Bytes free_told;  ///< what a mover was last told to be free there, less what all have
                               ///< moved there since
  placement::Bytes left;       ///< free there afterwards
  bool huge_pages = false;     ///< from pool to pool, which leaves the nodes' free memory alone
};

struct SimVcpu {
  placement::NodeIndex node = placement::kNoNode;
  placement::CpuTime wants;     ///< in this while
  placement::CpuTime ran;       ///< in this while
  placement::CpuTime overhead;  ///< of its run time, that went into faults and copies; not yet told
  placement::CpuTime queued;    ///< since it came to this node
  std::vector<placement::NodeIndex> places;  ///< where it may run
  std::int64_t ran_us = 0;
  std::int64_t waited_us = 0;
  std::int64_t reads = 0;               ///< from memory, since it started
  std::int64_t not_yet_touched_us = 0;  ///< run time that has not led to a whole page yet
  VcpuTruth truth;
};

struct SimVm {
  ScenarioVm spec;
  SimMemory::Owner owner = 0;
  placement::VmDescription description;
  placement::VmProcess process;
  std::vector<SimVcpu> vcpus;
  Random random{0};  ///< of its load
  Random users{0};   ///< of the vCPU that uses a page next
  std::int64_t load_pct = 0;
  std::int64_t beside_us = 0;             ///< of threads other than vCPUs, since it started
  std::int64_t throttled_us = 0;          ///< by its limit, since it started
  std::int64_t turn = 0;                  ///< of interleaved memory
  std::optional<SimNumaScanner> scanner;  ///< if the kernel balances it
  placement::NodeIndex prefers = placement::kNoNode;  ///< where the kernel would have its threads
  bool places_are_known = false;
  bool refuses_pins = false;
  bool pages_busy = false;
  bool finds_no_memory = false;
  bool slow_pins = false;
};

struct SimNode {
  std::vector<placement::Cpu> cpus;  ///< all, also offline ones
  std::vector<OtherLoad> other_loads;
  std::int64_t other_pct = 0;   ///< in this epoch, of loads that stay on the node
  placement::CpuTime roaming;   ///< what loads of no node want here, in this while
  placement::CpuTime moving;    ///< time that page moves took and nobody has had to wait for yet
  placement::Bytes moved;       ///< to and from, in this while
  std::int64_t busy_us = 0;     ///< since the host started
  std::int64_t copying_us = 0;  ///< of it, time that page moves took
  placement::CpuTime others;    ///< in this epoch
  placement::CpuTime roamed;    ///< of it, at most what loads of no node took
};

struct HostState {
  SimClock& clock;  ///< of the worker that uses the ports
  std::uint64_t seed = 0;
  placement::Topology topology;  ///< with the CPUs that are online
  std::vector<SimNode> nodes;
  SimMemory memory;
  std::map<placement::VmId, SimVm> vms;
  SimTalks talks;
  std::vector<PageMove> moves;  ///< since they were last asked for
  bool domains_changed = true;  ///< since libvirt was last asked

  /// Nothing if it does not run.
  [[nodiscard]] SimVm* find(const placement::VmId& vm);
  /// How many of its vCPUs each node ran last. It must run.
  [[nodiscard]] std::vector<std::int32_t> vcpus_on(const placement::VmId& vm) const;

  [[nodiscard]] bool memory_may_be_on(const SimVm& vm, placement::NodeIndex node) const;
  [[nodiscard]] std::vector<placement::NodeIndex> memory_nodes_for(const SimVm& vm) const;

  /// Copying a page; within a node at 10 GB/s, further away longer in proportion to distance.
  [[nodiscard]] placement::Microseconds copy_time(placement::NodeIndex from,
                                                  placement::NodeIndex to) const;
  /// It takes bandwidth of both nodes, and time of a CPU of the target.
  void note_copy(placement::NodeIndex from, placement::NodeIndex to, placement::CpuTime time);
  /// The page does not yield; of the same page always the same, in each `manner` of its own.
  [[nodiscard]] bool is_busy(const SimVm& vm, std::int64_t page, std::uint64_t manner) const;
};

/// The pin of that number, made or changed.
void set_pin(std::vector<placement::Pin>& pins, std::int32_t number,
             const std::vector<placement::CpuId>& cpus);

/// The guest cell whose memory the vCPU uses.
[[nodiscard]] std::size_t cell_of(const SimVm& vm, std::size_t vcpu);

}  // namespace vmnuma::tools
