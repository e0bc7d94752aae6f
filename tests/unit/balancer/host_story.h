// SPDX-License-Identifier: Apache-2.0
/// A small host for tests of the controller: what happens on it is told epoch by epoch.
///
/// Nodes of two CPUs (and cores) each, 1 GiB of memory; VMs of 64 MiB. Node n has CPUs 2n and 2n+1.
/// A vCPU is told to be busy for so many per cent of an epoch of 2 s; what its node cannot give
/// becomes waiting time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/controller.h"
#include "balancer/record/recorder.h"

namespace vmnuma::tests {

/// That a VM has besides its vCPUs.
inline constexpr std::int64_t kOtherThreads = 5;
inline constexpr Bytes kVmMemory{64 * kMiB.value};

[[nodiscard]] Topology small_host(std::int32_t nodes);
[[nodiscard]] VmId vm_id(std::uint8_t number);
[[nodiscard]] VmDescription small_vm(std::uint8_t number, const std::string& name,
                                     std::int32_t vcpus);
[[nodiscard]] std::vector<CpuId> node_cpus(std::int32_t node);

class HostStory {
 public:
  /// `change` may change what the controller starts with.
  HostStory(std::int32_t nodes, balancer::Mode mode,
            const std::function<void(balancer::ControllerSetup&)>& change = {});

  /// The VM runs from now on, its memory on `memory_node`, its vCPUs unpinned.
  void start(const VmDescription& vm, std::int32_t memory_node, std::int32_t busy_pct);
  void stop(std::uint8_t number);
  void set_busy(std::uint8_t number, std::int32_t pct) { vms_.at(vm_id(number)).busy_pct = pct; }
  void set_memory(std::uint8_t number, std::int32_t node) {
    vms_.at(vm_id(number)).memory_node = node;
  }
  /// The executor or an administrator pinned all its vCPUs; empty = anywhere.
  void pin(std::uint8_t number, const std::vector<CpuId>& cpus);
  /// Its memory may use these nodes from now on.
  void set_memory_nodes(std::uint8_t number, const std::vector<NodeId>& nodes);
  /// What libvirt lets its memory use; empty = all.
  [[nodiscard]] std::vector<NodeId> memory_nodes(std::uint8_t number) const {
    return vms_.at(vm_id(number)).description.numatune_nodes;
  }
  /// libvirt no longer reports what it was advised: the VM's threads have pins.
  void forget_advice(std::uint8_t number) {
    vms_.at(vm_id(number)).description.advised_cpus.clear();
  }
  /// A vCPU is plugged into the running VM; only libvirt has pinned it, if there is a default.
  void plug_vcpu(std::uint8_t number);
  /// Whether every vCPU has a pin of its own.
  [[nodiscard]] bool all_pinned(std::uint8_t number) const;
  /// What its first vCPU is pinned to; empty = anywhere.
  [[nodiscard]] std::vector<CpuId> pins(std::uint8_t number) const;
  /// What its last vCPU is pinned to; empty = anywhere.
  [[nodiscard]] std::vector<CpuId> last_pin(std::uint8_t number) const;
  /// The policy in its metadata was changed.
  void set_own_policy(std::uint8_t number, std::vector<PolicySetting> settings) {
    vms_.at(vm_id(number)).description.own_policy = std::move(settings);
  }
  /// What its cgroup lets it run on from now on.
  void set_allowed(std::uint8_t number, std::vector<CpuId> cpus) {
    vms_.at(vm_id(number)).allowed = std::move(cpus);
  }
  /// This VM cannot be read from now on.
  void hide(std::uint8_t number) { vms_.at(vm_id(number)).hidden = true; }

  /// Limits in force, by path of the cgroup; VM n is in vm_scope(n).
  std::map<std::string, MemoryLimits>& limits() { return limits_; }
  [[nodiscard]] static std::string vm_scope(std::uint8_t number) {
    return "machine.slice/vm" + std::to_string(number) + ".scope";
  }
  /// What carrying out a change of limits ends with; empty = it works.
  void set_limits_problem(std::string problem) { limits_problem_ = std::move(problem); }

  void set_wakeups(std::optional<std::vector<WakeupSample>> wakeups) {
    wakeups_ = std::move(wakeups);
  }
  /// Of every node's memory of 1 GiB; half of it if not said.
  void set_free(Bytes free) { free_ = free; }
  /// Of one node alone, from now on.
  void set_free(std::int32_t node, Bytes free) { free_on_[node] = free; }
  /// Huge pages of every node from the next epoch on; nothing: not read.
  void set_pools(std::optional<std::vector<HugePagePool>> pools) { pools_ = std::move(pools); }
  void set_direct_reclaims(std::optional<std::int64_t> count) { direct_reclaims_ = count; }
  void set_memory_pressure(Permille share) { memory_pressure_ = share; }
  /// How long some task of each VM waits for a CPU, and for memory.
  void set_waits(Permille cpu, Permille memory) {
    cpu_waits_ = cpu;
    memory_waits_ = memory;
  }
  /// What each VM's CPUs counted in the epochs from now on; nothing: nothing.
  void set_reads(std::optional<MemoryReads> reads) { reads_ = reads; }
  /// So much later than they are due epochs are told from now on.
  void set_late(Microseconds late) { late_ = late; }
  /// The wall clock is set forward by so much, or back.
  void set_clock(std::int64_t by_s) { clock_set_s_ += by_s; }

  /// One epoch: time passes and the controller is told.
  balancer::Effects epoch();
  /// Tells the controller of the VMs, as the inventory does.
  balancer::Effects report_domains();
  /// Everything an order asks for happens at once: pins, memory, limits, events.
  void carry_out(const balancer::Effects& effects);
  balancer::Effects finish(const migration::Order& order, migration::ActionState state,
                           const std::string& detail);

  balancer::Controller& controller() { return controller_; }
  /// Everything the controller is told here passes through it.
  balancer::Recorder& recorder() { return recorder_; }
  [[nodiscard]] std::int32_t home(std::uint8_t number) const;

 private:
  struct Vm {
    VmDescription description;
    std::int32_t memory_node = 0;
    std::int32_t busy_pct = 0;
    bool hidden = false;
    std::optional<std::vector<CpuId>> allowed;
    std::vector<std::int64_t> run_ns;
    std::vector<std::int64_t> wait_ns;
  };
  std::int32_t nodes_;
  balancer::Controller controller_;
  balancer::Recorder recorder_;
  std::map<VmId, Vm> vms_;
  std::vector<std::int64_t> cpu_busy_us_;
  std::optional<Permille> memory_pressure_;
  std::optional<Permille> cpu_waits_;
  std::optional<Permille> memory_waits_;
  Bytes free_{kGiB.value / 2};
  std::map<std::int32_t, Bytes> free_on_;
  std::optional<std::vector<HugePagePool>> pools_;
  std::optional<MemoryReads> reads_;
  Microseconds late_;
  std::optional<std::int64_t> direct_reclaims_;
  std::optional<std::vector<WakeupSample>> wakeups_;
  std::map<std::string, MemoryLimits> limits_;
  std::string limits_problem_;
  std::int64_t sequence_ = 0;
  std::int64_t clock_set_s_ = 0;
};

}  // namespace vmnuma::tests
