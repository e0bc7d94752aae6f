// SPDX-License-Identifier: Apache-2.0
/// A simulated host: VMs with vCPUs that share CPUs and pages that lie on nodes.
///
/// Problem: decisions can only be judged if everything about the host is known, simulated time
/// costs no real time, and every run is the same. Approach: virtual time passes in short whiles. In
/// each, CPUs run threads (host_cpus.h), and memory is touched and balanced where the threads run
/// (host_memory.h). The ports below the executor, libvirt's and the kernel's, act on the same state
/// and take time on the worker's clock (sim_libvirt.h, sim_kernel.h).
///
/// Properties: equal calls give equal answers; memory is neither lost nor created.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stats/perf/read_turns.h"
#include "tools/sim/host/host_cpus.h"
#include "tools/sim/host/host_state.h"
#include "tools/sim/host/sim_kernel.h"
#include "tools/sim/host/sim_libvirt.h"
#include "tools/sim/host/sim_thread_counters.h"

namespace vmnuma::tools {

/// Its functions are the events of a scenario, and what observers see of the host.
class SimHost {
 public:
  /// `clock` belongs to the worker that uses the ports. `prefer_ht` as in Options: how wide VMs
  /// that are found placed are split.
  SimHost(const ScenarioHost& host, std::uint64_t seed, bool prefer_ht, Microseconds& clock);
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  /// Returns the id of the VM that is started as number `number`, from 0.
  [[nodiscard]] static VmId id_of_started(std::size_t number);

  [[nodiscard]] SimLibvirt& libvirt() { return libvirt_; }
  [[nodiscard]] SimKernel& kernel() { return kernel_; }

  // Events on the host.
  VmId start(const ScenarioVm& vm);
  /// Does nothing if the VM does not run.
  void stop(const VmId& vm);
  /// Sets how much of a CPU every vCPU wants from now on, in place of the VM's original load. Does
  /// nothing if the VM does not run.
  void set_load(const VmId& vm, std::int64_t pct);
  /// Makes two running VMs wake each other that often, until one of them stops.
  void add_talk(const VmId& one, const VmId& other, std::int64_t per_second) {
    state_.talks.add(one, other, per_second);
  }
  /// Lets the kernel balance the VM's memory and threads from now on, unless they are bound.
  void balance_numa(const VmId& vm);
  /// Applies the loads of that epoch.
  void begin_epoch(std::int64_t epoch);
  void run(Microseconds length);

  // Faults, which last until they are undone with false.
  /// Sets one of the VM's faults: refuses_pins, pages_busy, finds_no_memory, slow_pins. Does
  /// nothing if the VM does not run.
  void set(const VmId& vm, bool SimVm::*fault, bool begins);
  void take_memory(NodeId node, bool take);
  void set_online(NodeId node, bool online);
  /// Takes the last `cores` cores of the node offline; all of them if it has no more, or if `cores`
  /// is 0.
  void take_cores(NodeId node, std::int32_t cores);

  // Observation.
  [[nodiscard]] const Topology& topology() const { return state_.topology; }
  /// Returns the topology with the firmware's distances.
  [[nodiscard]] Topology firmware_topology() const;
  [[nodiscard]] bool distances_are_measured() const { return distances_are_measured_; }
  /// Returns the readings of an epoch; call once per epoch. For VMs in `spilling` it includes the
  /// last CPUs.
  [[nodiscard]] Sample sample(std::int64_t sequence, Microseconds now,
                              const std::set<VmId>& spilling = {});
  /// Returns whether something changed since the last refresh().
  [[nodiscard]] bool domains_changed() const { return state_.domains_changed; }
  [[nodiscard]] bool runs(const VmId& vm) const { return state_.vms.contains(vm); }
  /// Returns the VM as libvirt currently describes it. It must be running.
  [[nodiscard]] const VmDescription& description(const VmId& vm) const {
    return state_.vms.at(vm).description;
  }
  /// Returns for each node how many of the VM's vCPUs last ran there. The VM must be running.
  [[nodiscard]] std::vector<std::int32_t> vcpus_on(const VmId& vm) const {
    return state_.vcpus_on(vm);
  }
  /// Returns the truth about the time since the last call.
  [[nodiscard]] EpochTruth take_truth();
  [[nodiscard]] std::vector<PageMove> take_moves();
  [[nodiscard]] std::optional<std::string> audit_memory() const { return state_.memory.audit(); }

  [[nodiscard]] Result<std::vector<VmDescription>> refresh();

 private:
  HostState state_;
  HostCpus cpus_;
  SimLibvirt libvirt_;
  SimKernel kernel_;
  SimThreadCounters counters_;
  stats::ReadTurns read_turns_;
  bool prefer_ht_;
  std::vector<std::int32_t> firmware_distances_;  ///< empty: the truth
  bool distances_are_measured_;
  SimMemory::Owner next_owner_ = 0;
  CpuTime epoch_so_far_;
  std::int64_t epoch_ = 0;
};

}  // namespace vmnuma::tools
