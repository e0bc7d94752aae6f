// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/host_cpus.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "balancer/core/counted_stall.h"
#include "placement/base/mapped.h"
#include "placement/capacity.h"
#include "placement/memory_cost.h"
#include "tools/sim/host/sim_caches.h"

namespace vmnuma::tools {

namespace {

/// What a thread loses when it moves to another node: the kernel's own estimate of how long it is
/// worth waiting to keep its caches (sysctl_sched_migration_cost; Linux 6.1, kernel/sched/fair.c).
constexpr CpuTime kCacheLoss{500};
/// The bandwidth of a node's memory per second, including page moves.
constexpr Bytes kNodeBandwidth = kGiB * 20;

std::vector<std::int32_t> cores_of(const Node& node) {
  return mapped(node.cpus, &Cpu::core);
}

bool has_several_caches(const Node& node) {
  return std::ranges::any_of(node.cpus, [&node](const Cpu& cpu) {
    return cpu.last_level_cache != node.cpus.front().last_level_cache;
  });
}

/// Returns the node's CPUs by last-level cache, as indices.
std::vector<std::vector<std::size_t>> caches_of(const Node& node) {
  std::map<std::int32_t, std::vector<std::size_t>> cpus;
  for (std::size_t cpu = 0; cpu < node.cpus.size(); ++cpu) {
    cpus[node.cpus[cpu].last_level_cache].push_back(cpu);
  }
  std::vector<std::vector<std::size_t>> caches;
  caches.reserve(cpus.size());
  for (auto& [cache, its_cpus] : cpus) {
    caches.push_back(std::move(its_cpus));
  }
  return caches;
}

/// Returns how long the thread ran on the CPUs of each cache.
std::vector<CpuTime> on_caches(const NodeShares& shares, std::size_t thread,
                               const std::vector<std::vector<std::size_t>>& caches,
                               std::size_t cpus) {
  std::vector<CpuTime> on_cache(caches.size());
  for (std::size_t cache = 0; cache < caches.size(); ++cache) {
    if (shares.on_cpu.empty()) {
      on_cache[cache] = scaled(shares.ran[thread], static_cast<std::int64_t>(caches[cache].size()),
                               static_cast<std::int64_t>(cpus));
      continue;
    }
    for (const std::size_t cpu : caches[cache]) {
      on_cache[cache] += shares.on_cpu[thread][cpu];
    }
  }
  return on_cache;
}

/// Returns the loads' demand in this epoch, in per cent of one CPU.
std::int64_t pct_of(const std::vector<OtherLoad>& loads, std::int64_t epoch) {
  std::int64_t pct = 0;
  for (const OtherLoad& load : loads) {
    if (load.from <= epoch && (!load.until || epoch < *load.until)) {
      pct += load.pct;
    }
  }
  return pct;
}

std::vector<NodeIndex> nodes_for(const Topology& topology, const SimVm& vm, std::size_t vcpu) {
  const std::vector<NodeId> nodes =
      topology.nodes_of(pinned_cpus(vm.description.vcpu_pins, static_cast<std::int32_t>(vcpu)));
  // Without a pin, or if none of its CPUs is online, the kernel lets a thread run anywhere.
  return topology.indices_of(nodes.empty() ? topology.nodes_of(topology.cpu_ids()) : nodes);
}

/// Returns the indices of the node's CPUs on which the vCPU may run; empty: all.
std::vector<std::size_t> cpus_for(const SimVm& vm, std::size_t vcpu, const Node& node) {
  const auto pin =
      std::ranges::find(vm.description.vcpu_pins, static_cast<std::int32_t>(vcpu), &Pin::number);
  if (pin == vm.description.vcpu_pins.end()) {
    return {};
  }
  const auto is_allowed = [&pin](const Cpu& cpu) {
    return std::binary_search(pin->cpus.begin(), pin->cpus.end(), cpu.id);
  };
  std::vector<std::size_t> allowed;
  if (!std::ranges::all_of(node.cpus, is_allowed)) {
    for (std::size_t cpu = 0; cpu < node.cpus.size(); ++cpu) {
      if (is_allowed(node.cpus[cpu])) {
        allowed.push_back(cpu);
      }
    }
  }
  return allowed;
}

const std::vector<NodeIndex>& places_of(const HostState& host, SimVm& vm, std::size_t vcpu) {
  if (!vm.places_are_known) {
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      vm.vcpus[i].places = nodes_for(host.topology, vm, i);
    }
    vm.places_are_known = true;
  }
  return vm.vcpus[vcpu].places;
}

/// Throttles a VM that wants more than its quota, which schedstat reports as waiting.
void limit_demand(SimVm& vm, CpuTime length) {
  const CpuTime load{length.value * vm.load_pct / 100};
  const auto vcpus = static_cast<std::int64_t>(vm.vcpus.size());
  const CpuTime most{length.value * vm.spec.limit_pct.value_or(100 * vcpus) / 100 / vcpus};
  for (SimVcpu& vcpu : vm.vcpus) {
    vcpu.wants = std::min(load, most);
    vcpu.waited_us += (load - vcpu.wants).value;
    vcpu.truth.waited += load - vcpu.wants;
    vm.throttled_us += (load - vcpu.wants).value;
  }
}

/// Charges a thread that changed its node for the loss of its caches.
void come_from(SimVcpu& vcpu, NodeIndex before) {
  if (before != vcpu.node) {
    vcpu.queued = CpuTime{};
    vcpu.overhead += before == kNoNode ? CpuTime{} : kCacheLoss;
  }
}

CpuTime stall_of(const HostState& host, const SimVm& vm, std::size_t index, CpuTime served,
                 CpuTime length, Permille crowded) {
  const NodeIndex here = vm.vcpus[index].node;
  const SimMemory::Counts& pages = host.memory.counts(vm.owner, cell_of(vm, index));
  std::int64_t resident = 0;
  std::int64_t extra = 0;
  for (NodeIndex node = 0; node < pages.size(); ++node) {
    resident += pages[node];
    extra += pages[node] * (host.topology.distance(here, node) - kLocalDistance);
  }
  const std::int64_t on_memory = served.value * vm.spec.stall.value / 1000;
  const std::int64_t far = on_memory * extra / std::max<std::int64_t>(resident * kLocalDistance, 1);
  const std::int64_t deliverable = kNodeBandwidth.value / kMicrosecondsPerSecond * length.value;
  const std::int64_t moving = std::min(host.nodes[here].moved.value, deliverable) / kSimPage.value;
  const std::int64_t busy = on_memory * moving / (deliverable / kSimPage.value + 1);
  const std::int64_t pushed_out = on_memory * crowded.value / 1000;
  return std::min(CpuTime{far + busy + pushed_out}, served);
}

/// Takes the time spent on wake-ups across nodes from all vCPUs of the VM in equal parts, but from
/// none more than it was served.
void pay_for_talk(HostState& host, CpuTime length) {
  if (host.talks.empty()) {
    return;
  }
  const auto lost = host.talks.pass(length, [&host](const VmId& id) {
    return host.vms.at(id).load_pct > 0 ? host.vcpus_on(id)
                                        : std::vector<std::int32_t>(host.nodes.size());
  });
  for (const auto& [id, time] : lost) {
    std::vector<SimVcpu>& vcpus = host.vms.at(id).vcpus;
    for (SimVcpu& vcpu : vcpus) {
      vcpu.truth.stalled = std::min(
          vcpu.truth.stalled + time / static_cast<std::int64_t>(vcpus.size()), vcpu.truth.served);
    }
  }
}

void settle_others(SimNode& node, CpuTime length, CpuTime wanted, const NodeShares& shares) {
  const CpuTime copying = node.moving;
  node.moving = wanted - shares.others;
  node.copying_us += std::max(copying - node.moving, CpuTime{}).value;
  node.moving = std::min(node.moving, length);  // no thread copies more than one CPU can
  node.others += shares.others;
  node.roamed += std::min(node.roaming, shares.others);
  node.busy_us += shares.busy.value;
}

}  // namespace

HostCpus::HostCpus(const std::vector<OtherLoad>& others, std::uint64_t seed, std::size_t nodes)
    : load_balancer_(seed), queues_(nodes) {
  std::ranges::copy_if(others, std::back_inserter(roaming_loads_),
                       [](const OtherLoad& other) { return !other.node; });
}

void HostCpus::begin_epoch(HostState& host, std::int64_t epoch) {
  for (SimNode& node : host.nodes) {
    node.other_pct = pct_of(node.other_loads, epoch);
  }
  roaming_pct_ = pct_of(roaming_loads_, epoch);
}

void HostCpus::run(HostState& host, CpuTime length) {
  settle_threads(host, length);
  let_others_roam(host, length);
  const std::vector<std::vector<Thread>> threads = threads_by_node(host);
  for (NodeIndex node = 0; node < host.nodes.size(); ++node) {
    if (host.topology.nodes[node].cpu_count() > 0) {
      run_node(host, node, length, threads[node]);
    }
  }
  pay_for_talk(host, length);
}

void HostCpus::settle_threads(HostState& host, CpuTime length) {
  std::vector<CpuTime> busy;
  for (const SimNode& node : host.nodes) {
    busy.push_back(CpuTime{length.value * node.other_pct / 100});
  }
  std::vector<FloatingThread> floating;
  std::vector<SimVcpu*> theirs;
  for (auto& [id, vm] : host.vms) {
    limit_demand(vm, length);
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      SimVcpu& vcpu = vm.vcpus[i];
      vcpu.ran = CpuTime{};
      const std::vector<NodeIndex>& nodes = places_of(host, vm, i);
      const NodeIndex before = vcpu.node;
      if (nodes.size() == 1) {
        vcpu.node = nodes.front();
      } else if (std::ranges::find(nodes, before) == nodes.end()) {
        vcpu.node = kNoNode;
      }
      if (vcpu.node != kNoNode) {
        busy[vcpu.node] += vcpu.wants;
        come_from(vcpu, before);
      }
      if (nodes.size() > 1) {
        floating.push_back({vcpu.node, vcpu.wants, vcpu.queued, nodes, vm.prefers});
        theirs.push_back(&vcpu);
      }
    }
  }
  load_balancer_.pass(length, host.topology, std::move(busy), floating);
  for (std::size_t i = 0; i < floating.size(); ++i) {
    const NodeIndex before = std::exchange(theirs[i]->node, floating[i].node);
    come_from(*theirs[i], before);
  }
}

/// Distributes loads without a node. Short-lived processes start where most CPUs are idle
/// (sched_balance_exec(), Linux 6.1, kernel/sched/core.c): piece by piece, each on the node with
/// the most idle time per CPU.
void HostCpus::let_others_roam(HostState& host, CpuTime length) const {
  constexpr std::int64_t kPieces = 64;
  for (SimNode& node : host.nodes) {
    node.roaming = CpuTime{};
  }
  if (roaming_pct_ == 0) {
    return;
  }
  std::vector<CpuTime> idle;
  for (NodeIndex node = 0; node < host.nodes.size(); ++node) {
    idle.push_back(length * host.topology.nodes[node].cpu_count() -
                   CpuTime{length.value * host.nodes[node].other_pct / 100});
  }
  for (const auto& [id, vm] : host.vms) {
    for (const SimVcpu& vcpu : vm.vcpus) {
      idle[vcpu.node] -= vcpu.wants;
    }
  }
  const auto has_less = [&](NodeIndex a, NodeIndex b) {
    const std::int64_t cpus_a = host.topology.nodes[a].cpu_count();
    const std::int64_t cpus_b = host.topology.nodes[b].cpu_count();
    return cpus_b > 0 && (cpus_a == 0 || idle[a] * cpus_b < idle[b] * cpus_a);
  };
  std::vector<NodeIndex> nodes(host.nodes.size());
  std::iota(nodes.begin(), nodes.end(), NodeIndex{0});
  CpuTime left{length.value * roaming_pct_ / 100};
  const CpuTime piece = std::max(left / kPieces, CpuTime{1});
  while (left > CpuTime{}) {
    const NodeIndex node = *std::max_element(nodes.begin(), nodes.end(), has_less);
    const CpuTime taken = std::min(piece, left);
    host.nodes[node].roaming += taken;
    idle[node] -= taken;
    left -= taken;
  }
}

std::vector<std::vector<HostCpus::Thread>> HostCpus::threads_by_node(HostState& host) {
  std::vector<std::vector<Thread>> threads(host.nodes.size());
  for (auto& [id, vm] : host.vms) {
    const CpuTime all = sum_of(vm.vcpus, &SimVcpu::wants);
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      const SimVcpu& vcpu = vm.vcpus[i];
      // A group's weight is shared by its threads that want to run.
      const std::int64_t weight =
          vm.spec.shares * 1000 * vcpu.wants.value / std::max<std::int64_t>(all.value, 1);
      if (vcpu.node != kNoNode) {
        threads[vcpu.node].push_back(
            {&vm, i, std::max<std::int64_t>(weight, 1), vcpu.wants * vm.spec.qemu.value / 1000});
      }
    }
  }
  return threads;
}

void HostCpus::run_node(HostState& host, NodeIndex node, CpuTime length,
                        const std::vector<Thread>& threads) {
  const Node& online = host.topology.nodes[node];
  SimNode& cpus = host.nodes[node];
  CpuTime others = CpuTime{length.value * cpus.other_pct / 100} + cpus.roaming + cpus.moving;
  std::vector<ThreadDemand> demands;
  demands.reserve(threads.size());
  bool all_float = true;
  for (const Thread& thread : threads) {
    others += thread.beside;
    demands.push_back({thread.weight, thread.vm->vcpus[thread.vcpu].wants,
                       cpus_for(*thread.vm, thread.vcpu, online)});
    all_float = all_float && demands.back().cpus.empty();
  }
  const NodeShares shares =
      all_float ? share_node(online.core_count(), online.cpu_count(), length, others, demands)
                : share_cpus(cores_of(online), length, others, demands);
  settle_others(cpus, length, others, shares);
  const Queue& queue = queue_on(node, online.cpu_count(), length, others, demands);
  const std::int64_t queued_for = std::max<std::int64_t>(sum_of(queue.wants).value, 1);
  const std::vector<Permille> crowded = crowding_on(online, length, threads, shares);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const auto& [vm, index, weight, beside] = threads[i];
    vm->beside_us +=
        scaled(shares.others, beside.value, std::max<std::int64_t>(others.value, 1)).value;
    SimVcpu& vcpu = vm->vcpus[index];
    const CpuTime ran = shares.ran[i];
    const CpuTime served = shares.served_of.empty()
                               ? CpuTime{ran.value * shares.served.value /
                                         std::max<std::int64_t>(shares.busy.value, 1)}
                               : shares.served_of[i];
    vcpu.ran = ran;
    vcpu.ran_us += ran.value;
    vcpu.reads += ran.value * vm->spec.stall.value * balancer::kReadsAtOnce / kTypicalReadNs;
    const CpuTime waited = vcpu.wants - ran + scaled(queue.waited, vcpu.wants.value, queued_for);
    vcpu.waited_us += waited.value;
    vcpu.truth.waited += waited;
    vcpu.queued += waited;
    vcpu.not_yet_touched_us += ran.value;
    vcpu.truth.wanted += vcpu.wants;
    vcpu.truth.ran += ran;
    vcpu.truth.served += served;
    const CpuTime overhead = std::min(std::exchange(vcpu.overhead, CpuTime{}), served);
    vcpu.truth.stalled +=
        overhead + stall_of(host, *vm, index, served - overhead, length, crowded[i]);
  }
}

std::vector<Permille> HostCpus::crowding_on(const Node& node, CpuTime length,
                                            const std::vector<Thread>& threads,
                                            const NodeShares& shares) {
  if (!has_several_caches(node)) {
    return std::vector<Permille>(threads.size());
  }
  const std::vector<std::vector<std::size_t>> caches = caches_of(node);
  std::vector<CacheUse> uses;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    uses.push_back({threads[i].vm->owner, threads[i].vm->spec.stall,
                    on_caches(shares, i, caches, node.cpus.size())});
  }
  std::vector<CpuTime> time;
  time.reserve(caches.size());
  for (const std::vector<std::size_t>& cache : caches) {
    time.push_back(length * static_cast<std::int64_t>(cache.size()));
  }
  return crowding(uses, time);
}

const HostCpus::Queue& HostCpus::queue_on(NodeIndex node, std::int32_t cpus, CpuTime length,
                                          CpuTime others,
                                          const std::vector<ThreadDemand>& threads) {
  std::vector<CpuTime> wants = mapped(threads, &ThreadDemand::wants);
  for (; others > CpuTime{}; others -= std::min(others, length)) {
    wants.push_back(std::min(others, length));
  }
  Queue& last = queues_[node];
  if (last.cpus != cpus || last.length != length || last.wants != wants) {
    last = {cpus, length, std::move(wants), CpuTime{}};
    last.waited = queueing(cpus, length, last.wants);
  }
  return last;
}

}  // namespace vmnuma::tools
