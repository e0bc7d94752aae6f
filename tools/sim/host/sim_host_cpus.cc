// SPDX-License-Identifier: Apache-2.0
/// What CPUs do in a while: threads settle on nodes, run, touch memory and wait for it.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "balancer/core/counted_stall.h"
#include "placement/capacity.h"
#include "placement/memory_cost.h"
#include "tools/sim/host/sim_caches.h"
#include "tools/sim/host/sim_cpus.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {

using placement::Bytes;
using placement::CpuId;
using placement::CpuTime;
using placement::NodeIndex;

namespace {

/// What a thread loses that has gone to another node: the kernel's own guess of how long its caches
/// are worth waiting for (sysctl_sched_migration_cost; Linux 6.1, kernel/sched/fair.c).
constexpr CpuTime kCacheLoss{500};
/// Memory that a second of CPU time touches until all is touched.
constexpr Bytes kTouchedPerSecond = placement::kMiB * 256;
/// What a node's memory can deliver. Page moves take their part of it.
constexpr Bytes kNodeBandwidth = placement::kGiB * 20;

std::vector<std::int32_t> cores_of(const placement::Node& node) {
  std::vector<std::int32_t> cores;
  for (const placement::Cpu& cpu : node.cpus) {
    cores.push_back(cpu.core);
  }
  return cores;
}

NodeShares share_evenly(const placement::Node& node, CpuTime length, CpuTime others,
                        const std::vector<PinnedThread>& threads) {
  std::vector<ThreadDemand> demands;
  demands.reserve(threads.size());
  for (const PinnedThread& thread : threads) {
    demands.push_back(thread.demand);
  }
  return share_node(node.core_count(), node.cpu_count(), length, others, demands);
}

/// The node's CPUs by last-level cache, as indices.
std::vector<std::vector<std::size_t>> caches_of(const placement::Node& node) {
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

/// How long the thread ran on the CPUs of each cache.
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

}  // namespace

std::size_t SimHost::cell_of(const Vm& vm, std::size_t vcpu) const {
  const auto cells = static_cast<std::size_t>(std::max(vm.spec.cells, 1));
  return vcpu * cells / static_cast<std::size_t>(vm.spec.vcpus);
}

std::vector<NodeIndex> SimHost::nodes_for(const Vm& vm, std::size_t vcpu) const {
  const auto pin = std::find_if(vm.description.vcpu_pins.begin(), vm.description.vcpu_pins.end(),
                                [vcpu](const placement::Pin& entry) {
                                  return entry.number == static_cast<std::int32_t>(vcpu);
                                });
  std::vector<NodeIndex> online;
  std::vector<NodeIndex> allowed;
  for (NodeIndex node = 0; node < topology_.nodes.size(); ++node) {
    const std::vector<placement::Cpu>& cpus = topology_.nodes[node].cpus;
    if (cpus.empty()) {
      continue;
    }
    online.push_back(node);
    if (pin == vm.description.vcpu_pins.end() ||
        std::any_of(cpus.begin(), cpus.end(), [&](const placement::Cpu& cpu) {
          return std::binary_search(pin->cpus.begin(), pin->cpus.end(), cpu.id);
        })) {
      allowed.push_back(node);
    }
  }
  // If none of its CPUs is left, the kernel lets a thread run anywhere.
  return allowed.empty() ? online : allowed;
}

/// Those of the node's CPUs that the vCPU may run on, by index.
std::vector<std::size_t> SimHost::cpus_for(const Vm& vm, std::size_t vcpu,
                                           const placement::Node& node) const {
  const auto pin = std::find_if(vm.description.vcpu_pins.begin(), vm.description.vcpu_pins.end(),
                                [vcpu](const placement::Pin& entry) {
                                  return entry.number == static_cast<std::int32_t>(vcpu);
                                });
  std::vector<std::size_t> all;
  std::vector<std::size_t> allowed;
  for (std::size_t cpu = 0; cpu < node.cpus.size(); ++cpu) {
    all.push_back(cpu);
    if (pin != vm.description.vcpu_pins.end() &&
        std::binary_search(pin->cpus.begin(), pin->cpus.end(), node.cpus[cpu].id)) {
      allowed.push_back(cpu);
    }
  }
  return allowed.empty() ? all : allowed;
}

const std::vector<NodeIndex>& SimHost::places_of(Vm& vm, std::size_t vcpu) const {
  if (!vm.places_are_known) {
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      vm.vcpus[i].places = nodes_for(vm, i);
    }
    vm.places_are_known = true;
  }
  return vm.vcpus[vcpu].places;
}

/// A VM that wants more than its quota is throttled, which schedstat tells as waiting.
void SimHost::limit_demand(Vm& vm, CpuTime length) {
  const CpuTime load{length.value * vm.load_pct / 100};
  const auto vcpus = static_cast<std::int64_t>(vm.vcpus.size());
  const CpuTime most{length.value * vm.spec.limit_pct.value_or(100 * vcpus) / 100 / vcpus};
  for (Vcpu& vcpu : vm.vcpus) {
    vcpu.wants = std::min(load, most);
    vcpu.waited_us += (load - vcpu.wants).value;
    vcpu.truth.waited += load - vcpu.wants;
    vm.throttled_us += (load - vcpu.wants).value;
  }
}

void SimHost::settle_threads(CpuTime length) {
  std::vector<CpuTime> busy;
  for (const NodeCpus& node : nodes_) {
    busy.push_back(CpuTime{length.value * node.other_pct / 100});
  }
  std::vector<FloatingThread> floating;
  std::vector<Vcpu*> theirs;
  for (auto& [id, vm] : vms_) {
    limit_demand(vm, length);
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      Vcpu& vcpu = vm.vcpus[i];
      vcpu.ran = CpuTime{};
      const std::vector<NodeIndex>& nodes = places_of(vm, i);
      const NodeIndex before = vcpu.node;
      if (nodes.size() == 1) {
        vcpu.node = nodes.front();
      } else if (std::find(nodes.begin(), nodes.end(), before) == nodes.end()) {
        vcpu.node = placement::kNoNode;
      }
      if (vcpu.node != placement::kNoNode) {
        busy[vcpu.node] += vcpu.wants;
        come_from(vcpu, before);
      }
      if (nodes.size() > 1) {
        floating.push_back({vcpu.node, vcpu.wants, vcpu.queued, nodes, vm.prefers});
        theirs.push_back(&vcpu);
      }
    }
  }
  load_balancer_.pass(length, topology_, std::move(busy), floating);
  for (std::size_t i = 0; i < floating.size(); ++i) {
    const NodeIndex before = std::exchange(theirs[i]->node, floating[i].node);
    come_from(*theirs[i], before);
  }
}

/// Short-lived processes start where most CPUs are idle (sched_balance_exec(), Linux 6.1,
/// kernel/sched/core.c): piece by piece, each on the node with the most idle time a CPU.
void SimHost::let_others_roam(CpuTime length) {
  constexpr std::int64_t kPieces = 64;
  for (NodeCpus& node : nodes_) {
    node.roaming = CpuTime{};
  }
  if (roaming_pct_ == 0) {
    return;
  }
  std::vector<CpuTime> idle;
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    idle.push_back(length * topology_.nodes[node].cpu_count() -
                   CpuTime{length.value * nodes_[node].other_pct / 100});
  }
  for (const auto& [id, vm] : vms_) {
    for (const Vcpu& vcpu : vm.vcpus) {
      idle[vcpu.node] -= vcpu.wants;
    }
  }
  const auto has_less = [&](NodeIndex a, NodeIndex b) {
    const std::int64_t cpus_a = topology_.nodes[a].cpu_count();
    const std::int64_t cpus_b = topology_.nodes[b].cpu_count();
    return cpus_b > 0 && (cpus_a == 0 || idle[a] * cpus_b < idle[b] * cpus_a);
  };
  std::vector<NodeIndex> nodes(nodes_.size());
  std::iota(nodes.begin(), nodes.end(), NodeIndex{0});
  CpuTime left{length.value * roaming_pct_ / 100};
  const CpuTime piece = std::max(left / kPieces, CpuTime{1});
  while (left > CpuTime{}) {
    const NodeIndex node = *std::max_element(nodes.begin(), nodes.end(), has_less);
    const CpuTime taken = std::min(piece, left);
    nodes_[node].roaming += taken;
    idle[node] -= taken;
    left -= taken;
  }
}

/// A thread that has changed its node has left its caches behind.
void SimHost::come_from(Vcpu& vcpu, NodeIndex before) {
  if (before != vcpu.node) {
    vcpu.queued = CpuTime{};
    vcpu.overhead += before == placement::kNoNode ? CpuTime{} : kCacheLoss;
  }
}

void SimHost::run(placement::Microseconds time) {
  const CpuTime length{time.value};
  settle_threads(length);
  let_others_roam(length);
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    if (topology_.nodes[node].cpu_count() > 0) {
      run_node(node, length);
    }
  }
  pay_for_talk(length);
  for (NodeCpus& node : nodes_) {
    node.moved = Bytes{};
  }
  for (auto& [id, vm] : vms_) {
    touch_memory(vm);
    scan_memory(vm, length);
  }
  epoch_so_far_ += length;
}

void SimHost::run_node(NodeIndex node, CpuTime length) {
  struct Thread {
    Vm* vm;
    std::size_t vcpu;
  };
  const placement::Node& online = topology_.nodes[node];
  std::vector<Thread> threads;
  std::vector<PinnedThread> demands;
  bool all_float = true;
  NodeCpus& cpus = nodes_[node];
  CpuTime others = CpuTime{length.value * cpus.other_pct / 100} + cpus.roaming + cpus.moving;
  std::vector<CpuTime> besides;
  for (auto& [id, vm] : vms_) {
    CpuTime all;
    for (const Vcpu& vcpu : vm.vcpus) {
      all += vcpu.wants;
    }
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      const Vcpu& vcpu = vm.vcpus[i];
      if (vcpu.node == node) {
        // A group's weight is shared by those of its threads that want to run.
        const std::int64_t weight =
            vm.spec.shares * 1000 * vcpu.wants.value / std::max<std::int64_t>(all.value, 1);
        threads.push_back({&vm, i});
        others += vcpu.wants * vm.spec.qemu.value / 1000;
        besides.push_back(vcpu.wants * vm.spec.qemu.value / 1000);
        demands.push_back(
            {{std::max<std::int64_t>(weight, 1), vcpu.wants}, cpus_for(vm, i, online)});
        all_float = all_float && demands.back().cpus.size() == online.cpus.size();
      }
    }
  }
  const NodeShares shares = all_float ? share_evenly(online, length, others, demands)
                                      : share_cpus(cores_of(online), length, others, demands);
  CpuTime queued_of_all;
  const CpuTime queued = queueing_on(node, length, others, demands, queued_of_all);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].vm->beside_us +=
        scaled(shares.others, besides[i].value, std::max<std::int64_t>(others.value, 1)).value;
  }
  const CpuTime copying = cpus.moving;
  cpus.moving = others - shares.others;
  cpus.copying_us += std::max(copying - cpus.moving, CpuTime{}).value;
  cpus.moving = std::min(cpus.moving, length);  // nobody copies more than one CPU can
  cpus.others += shares.others;
  cpus.roamed += std::min(cpus.roaming, shares.others);
  cpus.busy_us += shares.busy.value;
  std::vector<placement::Permille> crowded(threads.size());
  const std::vector<std::vector<std::size_t>> caches = caches_of(online);
  if (caches.size() > 1) {
    std::vector<CacheUse> uses;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      uses.push_back({threads[i].vm->owner, threads[i].vm->spec.stall,
                      on_caches(shares, i, caches, online.cpus.size())});
    }
    std::vector<CpuTime> time;
    time.reserve(caches.size());
    for (const std::vector<std::size_t>& cache : caches) {
      time.push_back(length * static_cast<std::int64_t>(cache.size()));
    }
    crowded = crowding(uses, time);
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    Vcpu& vcpu = threads[i].vm->vcpus[threads[i].vcpu];
    const CpuTime ran = shares.ran[i];
    const CpuTime served = shares.served_of.empty()
                               ? CpuTime{ran.value * shares.served.value /
                                         std::max<std::int64_t>(shares.busy.value, 1)}
                               : shares.served_of[i];
    vcpu.ran = ran;
    vcpu.ran_us += ran.value;
    vcpu.reads += ran.value * threads[i].vm->spec.stall.value * balancer::kReadsAtOnce /
                  placement::kTypicalReadNs;
    const CpuTime waited =
        vcpu.wants - ran +
        scaled(queued, vcpu.wants.value, std::max<std::int64_t>(queued_of_all.value, 1));
    vcpu.waited_us += waited.value;
    vcpu.truth.waited += waited;
    vcpu.queued += waited;
    vcpu.not_yet_touched_us += ran.value;
    vcpu.truth.wanted += vcpu.wants;
    vcpu.truth.ran += ran;
    vcpu.truth.served += served;
    const CpuTime overhead = std::min(std::exchange(vcpu.overhead, CpuTime{}), served);
    vcpu.truth.stalled +=
        overhead + stall_of(*threads[i].vm, threads[i].vcpu, served - overhead, length, crowded[i]);
  }
}

/// What threads of the node wait for each other although all get what they want; `of_all` is what
/// they want.
CpuTime SimHost::queueing_on(NodeIndex node, CpuTime length, CpuTime others,
                             const std::vector<PinnedThread>& threads, CpuTime& of_all) {
  std::vector<CpuTime> wants;
  for (const PinnedThread& thread : threads) {
    wants.push_back(thread.demand.wants);
  }
  for (; others > CpuTime{}; others -= std::min(others, length)) {
    wants.push_back(std::min(others, length));
  }
  for (const CpuTime wanted : wants) {
    of_all += wanted;
  }
  Queue& last = nodes_[node].queue;
  const std::int32_t cpus = topology_.nodes[node].cpu_count();
  if (last.cpus != cpus || last.length != length || last.wants != wants) {
    last = {cpus, length, std::move(wants), CpuTime{}};
    last.waited = queueing(cpus, length, last.wants);
  }
  return last.waited;
}

CpuTime SimHost::stall_of(const Vm& vm, std::size_t index, CpuTime served, CpuTime length,
                          placement::Permille crowded) const {
  const NodeIndex here = vm.vcpus[index].node;
  const SimMemory::Counts& pages = memory_.counts(vm.owner, cell_of(vm, index));
  std::int64_t resident = 0;
  std::int64_t extra = 0;
  for (NodeIndex node = 0; node < pages.size(); ++node) {
    resident += pages[node];
    extra += pages[node] * (topology_.distance(here, node) - placement::kLocalDistance);
  }
  const std::int64_t on_memory = served.value * vm.spec.stall.value / 1000;
  const std::int64_t far =
      on_memory * extra / std::max<std::int64_t>(resident * placement::kLocalDistance, 1);
  const std::int64_t deliverable =
      kNodeBandwidth.value / placement::kMicrosecondsPerSecond * length.value;
  const std::int64_t moving = std::min(nodes_[here].moved.value, deliverable) / kSimPage.value;
  const std::int64_t busy = on_memory * moving / (deliverable / kSimPage.value + 1);
  const std::int64_t pushed_out = on_memory * crowded.value / 1000;
  return std::min(CpuTime{far + busy + pushed_out}, served);
}

/// What wake-ups from node to node took is lost to all vCPUs of the VM alike, as far as they ran.
void SimHost::pay_for_talk(CpuTime length) {
  if (talks_.empty()) {
    return;
  }
  const auto lost = talks_.pass(length, [this](const placement::VmId& id) {
    return vms_.at(id).load_pct > 0 ? vcpus_on(id) : std::vector<std::int32_t>(nodes_.size());
  });
  for (const auto& [id, time] : lost) {
    std::vector<Vcpu>& vcpus = vms_.at(id).vcpus;
    for (Vcpu& vcpu : vcpus) {
      vcpu.truth.stalled = std::min(
          vcpu.truth.stalled + time / static_cast<std::int64_t>(vcpus.size()), vcpu.truth.served);
    }
  }
}

void SimHost::touch_memory(Vm& vm) {
  constexpr std::int64_t kMicrosecondsPerPage =
      placement::kMicrosecondsPerSecond * kSimPage.value / kTouchedPerSecond.value;
  const std::vector<NodeIndex> allowed = memory_nodes_for(vm);
  for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
    Vcpu& vcpu = vm.vcpus[i];
    const std::int64_t pages = vcpu.not_yet_touched_us / kMicrosecondsPerPage;
    vcpu.not_yet_touched_us %= kMicrosecondsPerPage;
    const std::size_t cell = cell_of(vm, i);
    if (pages == 0 || memory_.untouched_pages(vm.owner, cell) == 0) {
      continue;
    }
    if (vm.description.numatune == placement::NumatuneMode::kInterleave) {
      for (std::int64_t page = 0; page < pages; ++page, ++vm.turn) {
        const auto turn = static_cast<std::size_t>(vm.turn) % allowed.size();
        memory_.touch(vm.owner, cell, 1, allowed[turn], allowed);
      }
    } else {
      const bool preferred = vm.description.numatune == placement::NumatuneMode::kPreferred;
      const NodeIndex near =
          preferred ? *topology_.index_of(vm.description.numatune_nodes.front()) : vcpu.node;
      memory_.touch(vm.owner, cell, pages, near, allowed);
    }
  }
}

// ---- the kernel's NUMA balancing ----

void SimHost::balance_numa(const placement::VmId& id) {
  const auto found = vms_.find(id);
  if (found == vms_.end() || found->second.spec.memory < kSimPage) {
    return;
  }
  Vm& vm = found->second;
  // Mappings with an explicit policy are skipped (vma_policy_mof), and those of huge pages.
  if (!vm.spec.huge_pages && (vm.description.numatune == placement::NumatuneMode::kNone ||
                              vm.description.numatune == placement::NumatuneMode::kRestrictive)) {
    vm.scanner.emplace(memory_.pages(vm.owner), vm.spec.vcpus);
  }
}

void SimHost::scan_memory(Vm& vm, CpuTime length) {
  if (!vm.scanner) {
    return;
  }
  std::vector<SimNumaScanner::Share> nodes(nodes_.size());
  std::vector<std::size_t> runnable;
  CpuTime ran;
  for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
    const Vcpu& vcpu = vm.vcpus[i];
    if (vcpu.ran > CpuTime{}) {
      runnable.push_back(i);
      ran += vcpu.ran;
      nodes[vcpu.node].run += vcpu.ran.value;
    }
  }
  const SimMemory::Counts pages = memory_.counts(vm.owner);
  std::int64_t resident = 0;
  for (NodeIndex node = 0; node < pages.size(); ++node) {
    nodes[node].memory = pages[node];
    resident += pages[node];
  }
  const std::int64_t passes = vm.scanner->passes();
  for (std::int64_t due = vm.scanner->pages_due(length, ran, resident); due > 0; --due) {
    if (const std::int64_t page = vm.scanner->next_page(); page >= 0) {
      take_hinting_fault(vm, page, runnable, nodes);
    }
  }
  if (vm.scanner->passes() > passes) {
    vm.prefers =
        static_cast<NodeIndex>(std::max_element(pages.begin(), pages.end()) - pages.begin());
  }
}

/// All memory of a cell is used alike, so any of its vCPUs that run uses the page next.
void SimHost::take_hinting_fault(Vm& vm, std::int64_t page,
                                 const std::vector<std::size_t>& runnable,
                                 const std::vector<SimNumaScanner::Share>& nodes) {
  const std::optional<NodeIndex> from = memory_.place(vm.owner, page);
  if (!from) {
    return;
  }
  std::size_t user = runnable[static_cast<std::size_t>(
      vm.users.below(static_cast<std::int64_t>(runnable.size())))];
  if (vm.spec.cells > 1) {
    const auto in_cell = [&](std::size_t vcpu) {
      const std::size_t cell = cell_of(vm, vcpu);
      return memory_.first_page(vm.owner, cell) <= page &&
             page < memory_.first_page(vm.owner, cell + 1);
    };
    const auto found = std::find_if(runnable.begin(), runnable.end(), in_cell);
    user = found == runnable.end() ? user : *found;
  }
  Vcpu& vcpu = vm.vcpus[user];
  vcpu.overhead += kHintingFault;
  if (!vm.scanner->fault(page, static_cast<std::int32_t>(user), *from, vcpu.node, nodes)) {
    return;
  }
  // A page is allocated within the cpuset of the task that takes the fault (prepare_alloc_pages).
  if (!memory_may_be_on(vm, vcpu.node) || is_busy(vm, page, /*manner=*/1) ||
      !memory_.move(vm.owner, page, vcpu.node)) {
    vm.scanner->move_failed();
    return;
  }
  // The vCPU that took the fault copies the page itself.
  vcpu.overhead += CpuTime{copy_time(*from, vcpu.node).value};
  nodes_[*from].moved += kSimPage;
  nodes_[vcpu.node].moved += kSimPage;
  moves_.push_back({clock_.now,
                    vm.description.id,
                    topology_.nodes[vcpu.node].id,
                    kSimPage,
                    {},
                    kSimPage * memory_.free(vcpu.node)});
}

bool SimHost::memory_may_be_on(const Vm& vm, NodeIndex node) const {
  using placement::NumatuneMode;
  const std::vector<placement::NodeId>& bound = vm.description.numatune_nodes;
  const NumatuneMode mode = vm.description.numatune;
  return mode == NumatuneMode::kNone || mode == NumatuneMode::kPreferred ||
         std::find(bound.begin(), bound.end(), topology_.nodes[node].id) != bound.end();
}

std::vector<NodeIndex> SimHost::memory_nodes_for(const Vm& vm) const {
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = 0; node < topology_.nodes.size(); ++node) {
    if (memory_may_be_on(vm, node)) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

}  // namespace vmnuma::tools
