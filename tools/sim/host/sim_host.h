// SPDX-License-Identifier: Apache-2.0
/// A host that does not exist: VMs whose vCPUs share CPUs and whose pages lie on nodes.
///
/// Problem: decisions can only be judged where everything about the host is known, time costs
/// nothing and every run is the same. Approach: virtual time in short whiles. In each, vCPUs that
/// are pinned nowhere go where the kernel's load balancer has them (sim_load_balancer.h), every
/// node shares out its CPUs (sim_cpus.h), QEMU's own threads and what the host does first, memory
/// is touched where vCPUs run (sim_memory.h), and remote memory and wake-ups from node to node
/// (sim_talks.h) cost part of the time that was given. The ports below the executor act on the same
/// state and take time on the worker's clock; page moves keep to the habits of move_pages(2) of
/// Linux 6.1 (mm/migrate.c), also the awkward ones. Which CPU within a node a thread runs on is
/// simulated only on nodes where some thread may not run on all of them.
///
/// Properties:
///  - equal calls give equal answers;
///  - time a thread wanted is time it ran or waited; what is told as waiting is also what it queued
///  for a while and then ran after all, as in the kernel's run_delay;
///  - no VM runs longer than its limit;
///  - memory is neither lost nor made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "migration/domain_control.h"
#include "migration/page_mover.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "stats/domain_inventory.h"
#include "stats/perf/read_turns.h"
#include "stats/perf/thread_counters.h"
#include "tools/sim/host/sim_clock.h"
#include "tools/sim/host/sim_cpus.h"
#include "tools/sim/host/sim_load_balancer.h"
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

class SimHost final : public stats::DomainInventory,
                      public migration::DomainControl,
                      public migration::PageMover,
                      private stats::ThreadCounters {
 public:
  /// `clock` is that of the worker that uses the ports. `prefer_ht` as in Options: how wide VMs
  /// that are found placed are split.
  SimHost(const ScenarioHost& host, std::uint64_t seed, bool prefer_ht, SimClock& clock);
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  /// Of the VM that is started as number `number`, from 0.
  [[nodiscard]] static placement::VmId id_of_started(std::size_t number);

  // What happens to the host.
  placement::VmId start(const ScenarioVm& vm);
  /// Nothing if it does not run.
  void stop(const placement::VmId& vm);
  /// Every vCPU wants so much of a CPU from now on, whatever its VM was started with. Nothing if it
  /// does not run.
  void set_load(const placement::VmId& vm, std::int64_t pct);
  /// Two running VMs wake each other so often from now on, until one of them stops.
  void let_talk(const placement::VmId& one, const placement::VmId& other, std::int64_t per_second) {
    talks_.add(one, other, per_second);
  }
  /// Takes over the loads of that epoch.
  void begin_epoch(std::int64_t epoch);
  void run(placement::Microseconds length);

  /// Pins all threads of the VM at once by a write to its cpuset, past libvirt. Error: not-found.
  [[nodiscard]] Result<void> bind(const placement::VmId& vm,
                                  const std::vector<placement::CpuId>& cpus);
  /// The kernel balances the VM's memory and threads from now on, as far as they are not bound.
  void balance_numa(const placement::VmId& vm);

  // What goes wrong, until it is taken back with false.
  void refuse_pins(const placement::VmId& vm, bool refuse);
  void keep_pages_busy(const placement::VmId& vm, bool busy);
  void take_memory(placement::NodeId node, bool take);
  /// No node has a page for this VM.
  void refuse_memory(const placement::VmId& vm, bool refuse);
  /// For all VMs, or for one.
  void slow_down_libvirt(bool slow) { slow_libvirt_ = slow; }
  void slow_down_libvirt(const placement::VmId& vm, bool slow);
  /// Changes of pins and memory nodes fail.
  void lose_libvirt(bool lost) { libvirt_lost_ = lost; }
  void set_online(placement::NodeId node, bool online);
  /// So many of the node's cores go offline, the last ones; all if it has no more, or `cores` is 0.
  void take_cores(placement::NodeId node, std::int32_t cores);

  // What there is to see.
  [[nodiscard]] const placement::Topology& topology() const { return topology_; }
  /// The same with the distances that the firmware says.
  [[nodiscard]] placement::Topology firmware_topology() const;
  [[nodiscard]] bool distances_are_measured() const { return distances_are_measured_; }
  /// Once an epoch.
  [[nodiscard]] placement::Sample sample(std::int64_t sequence, placement::Microseconds now);
  /// Something changed since the last refresh().
  [[nodiscard]] bool domains_changed() const { return domains_changed_; }
  [[nodiscard]] bool runs(const placement::VmId& vm) const { return vms_.contains(vm); }
  /// The VM as libvirt has it now. It must run.
  [[nodiscard]] const placement::VmDescription& description(const placement::VmId& vm) const {
    return vms_.at(vm).description;
  }
  /// How many of its vCPUs each node ran last. It must run.
  [[nodiscard]] std::vector<std::int32_t> vcpus_on(const placement::VmId& vm) const;
  /// Since the last call.
  [[nodiscard]] EpochTruth take_truth();
  [[nodiscard]] std::vector<PageMove> take_moves();
  [[nodiscard]] std::optional<std::string> audit_memory() const { return memory_.audit(); }

  // stats::DomainInventory
  [[nodiscard]] Result<std::vector<placement::VmDescription>> refresh() override;

  // migration::DomainControl
  [[nodiscard]] Result<void> pin_vcpu(const migration::DomainRun& run, std::int32_t vcpu,
                                      const std::vector<placement::CpuId>& cpus) override;
  [[nodiscard]] Result<void> pin_emulator(const migration::DomainRun& run,
                                          const std::vector<placement::CpuId>& cpus) override;
  [[nodiscard]] Result<void> pin_io_thread(const migration::DomainRun& run, std::int32_t io_thread,
                                           const std::vector<placement::CpuId>& cpus) override;
  [[nodiscard]] Result<void> set_memory_nodes(const migration::DomainRun& run,
                                              const std::vector<placement::NodeId>& nodes) override;
  [[nodiscard]] Result<void> set_policy(const placement::VmId& vm,
                                        const std::vector<placement::PolicySetting>& settings,
                                        bool persistent) override;

  // migration::PageMover
  [[nodiscard]] Result<void> check(const placement::VmProcess& process) override;
  [[nodiscard]] Result<std::vector<migration::MemoryRange>> find_ranges(
      const placement::VmProcess& process) override;
  [[nodiscard]] Result<void> reveal(const placement::VmProcess& process,
                                    std::span<const std::uint64_t> addresses,
                                    placement::Bytes unit) override;
  [[nodiscard]] Result<std::vector<int>> query(const placement::VmProcess& process,
                                               std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] Result<migration::MoveResult> move(const placement::VmProcess& process,
                                                   std::span<const std::uint64_t> addresses,
                                                   placement::NodeId node,
                                                   migration::SharedPages shared) override;
  [[nodiscard]] Result<migration::NodeMemory> node_memory(placement::NodeId node) override;

 private:
  struct Vcpu {
    placement::NodeIndex node = placement::kNoNode;
    placement::CpuTime wants;  ///< in this while
    placement::CpuTime ran;    ///< in this while
    placement::CpuTime
        overhead;               ///< of its run time, that went into faults and copies; not yet told
    placement::CpuTime queued;  ///< since it came to this node
    std::vector<placement::NodeIndex> places;  ///< where it may run
    std::int64_t ran_us = 0;
    std::int64_t waited_us = 0;
    std::int64_t reads = 0;               ///< from memory, since it started
    std::int64_t not_yet_touched_us = 0;  ///< run time that has not led to a whole page yet
    VcpuTruth truth;
  };
  struct Vm {
    ScenarioVm spec;
    SimMemory::Owner owner = 0;
    placement::VmDescription description;
    placement::VmProcess process;
    std::vector<Vcpu> vcpus;
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
  /// What a while came to; most whiles are like the one before.
  struct Queue {
    std::int32_t cpus = 0;
    placement::CpuTime length;
    std::vector<placement::CpuTime> wants;
    placement::CpuTime waited;
  };
  struct NodeCpus {
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
    Queue queue;
  };
  struct Moving;  ///< a page migration call
  class ReadCounter;

  // stats::ThreadCounters
  [[nodiscard]] Result<std::unique_ptr<stats::ThreadCounter>> count(std::int64_t tid) override;
  [[nodiscard]] const Vcpu* find_thread(std::int64_t tid) const;

  // VMs
  void describe(Vm& vm) const;
  void pin_as_found(Vm& vm) const;
  void fill_memory(Vm& vm);
  void begin_epoch(Vm& vm) const;

  // CPUs
  void run_node(placement::NodeIndex node, placement::CpuTime length);
  void settle_threads(placement::CpuTime length);
  void let_others_roam(placement::CpuTime length);
  static void limit_demand(Vm& vm, placement::CpuTime length);
  static void come_from(Vcpu& vcpu, placement::NodeIndex before);
  [[nodiscard]] const std::vector<placement::NodeIndex>& places_of(Vm& vm, std::size_t vcpu) const;
  [[nodiscard]] placement::CpuTime queueing_on(placement::NodeIndex node, placement::CpuTime length,
                                               placement::CpuTime others,
                                               const std::vector<PinnedThread>& threads,
                                               placement::CpuTime& of_all);
  void pay_for_talk(placement::CpuTime length);
  [[nodiscard]] std::vector<placement::NodeIndex> nodes_for(const Vm& vm, std::size_t vcpu) const;
  [[nodiscard]] std::vector<std::size_t> cpus_for(const Vm& vm, std::size_t vcpu,
                                                  const placement::Node& node) const;
  [[nodiscard]] placement::CpuTime stall_of(const Vm& vm, std::size_t vcpu,
                                            placement::CpuTime served, placement::CpuTime length,
                                            placement::Permille crowded) const;
  [[nodiscard]] std::size_t cell_of(const Vm& vm, std::size_t vcpu) const;

  // Memory
  void touch_memory(Vm& vm);
  void scan_memory(Vm& vm, placement::CpuTime length);
  void take_hinting_fault(Vm& vm, std::int64_t page, const std::vector<std::size_t>& runnable,
                          const std::vector<SimNumaScanner::Share>& nodes);
  [[nodiscard]] bool memory_may_be_on(const Vm& vm, placement::NodeIndex node) const;
  [[nodiscard]] std::vector<placement::NodeIndex> memory_nodes_for(const Vm& vm) const;
  /// Pages that are mapped below this cell's.
  [[nodiscard]] std::int64_t pages_below(const Vm& vm, std::size_t cell) const;
  /// -1 if the address is none of the VM's.
  [[nodiscard]] std::int64_t page_at(const Vm& vm, std::uint64_t address) const;
  [[nodiscard]] bool is_busy(const Vm& vm, std::int64_t page, std::uint64_t manner) const;
  [[nodiscard]] placement::Microseconds copy_time(placement::NodeIndex from,
                                                  placement::NodeIndex to) const;
  void note_copy(placement::NodeIndex from, placement::NodeIndex to, placement::CpuTime time);
  [[nodiscard]] bool flush(Moving& call);

  // Ports
  [[nodiscard]] Result<Vm*> find(const placement::VmId& vm);
  [[nodiscard]] Result<Vm*> find(const migration::DomainRun& run);
  [[nodiscard]] Result<Vm*> find(const placement::VmProcess& process);
  [[nodiscard]] Result<void> check_cpus(const std::vector<placement::CpuId>& cpus) const;
  void pay_for_pin(const placement::VmId& vm);

  SimClock& clock_;
  std::uint64_t seed_;
  bool prefer_ht_;
  placement::Topology topology_;
  std::vector<std::int32_t> firmware_distances_;  ///< empty: the truth
  bool distances_are_measured_;
  std::vector<NodeCpus> nodes_;
  std::vector<OtherLoad> roaming_loads_;
  std::int64_t roaming_pct_ = 0;  ///< in this epoch
  SimMemory memory_;
  std::map<placement::VmId, Vm> vms_;
  SimMemory::Owner next_owner_ = 0;
  SimTalks talks_;
  SimLoadBalancer load_balancer_;
  stats::ReadTurns read_turns_;
  std::vector<PageMove> moves_;
  std::map<placement::NodeId, placement::Bytes> free_told_;
  placement::CpuTime epoch_so_far_;
  std::int64_t epoch_ = 0;
  bool libvirt_lost_ = false;
  bool slow_libvirt_ = false;
  bool domains_changed_ = true;
};

}  // namespace vmnuma::tools
