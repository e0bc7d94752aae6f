// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_host.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "placement/base/mapped.h"
#include "placement/base/sorted.h"
#include "placement/clients.h"
#include "tools/sim/host/host_memory.h"

namespace vmnuma::tools {

namespace {

SimMemory::Counts pages_of(const ScenarioHost& host, SimPool pool) {
  SimMemory::Counts pages;
  for (const ScenarioNode& node : host.nodes) {
    const std::int64_t huge = node.huge_pages.value / kSimPage.value;
    pages.push_back(pool == SimPool::kHuge ? huge : node.memory.value / kSimPage.value - huge);
  }
  return pages;
}

std::vector<Bytes> in_bytes(const SimMemory::Counts& pages) {
  std::vector<Bytes> bytes;
  for (const std::int64_t count : pages) {
    bytes.push_back(kSimPage * count);
  }
  return bytes;
}

/// Makes a topology whose CPUs are numbered as on most machines: first threads of all cores, then
/// second ones.
Topology make_topology(const ScenarioHost& host) {
  Topology topology;
  topology.distances = host.distances;
  std::int32_t first_core = 0;
  std::int32_t all_cores = 0;
  for (const ScenarioNode& node : host.nodes) {
    all_cores += node.cores;
  }
  for (const ScenarioNode& node : host.nodes) {
    Node made{.id = node.id,
              .cpus = {},
              .memory = node.memory,
              .package = node.id.value,
              .huge_pages = {}};
    if (node.huge_pages > Bytes{}) {
      made.huge_pages.push_back({kSimPage, node.huge_pages.value / kSimPage.value});
    }
    for (std::int32_t thread = 0; thread < node.threads_per_core; ++thread) {
      for (std::int32_t core = first_core; core < first_core + node.cores; ++core) {
        // Cores that share a cache are consecutive.
        const std::int32_t cache = (core - first_core) * node.caches / node.cores;
        made.cpus.push_back(
            {CpuId{thread * all_cores + core}, core, node.id.value * node.caches + cache});
      }
    }
    first_core += node.cores;
    topology.nodes.push_back(std::move(made));
  }
  return topology;
}

HostState state_of(const ScenarioHost& host, std::uint64_t seed, Microseconds& clock) {
  HostState state{.clock = clock,
                  .seed = seed,
                  .topology = make_topology(host),
                  .nodes = {},
                  .memory = SimMemory(pages_of(host, SimPool::kOrdinary), host.distances,
                                      pages_of(host, SimPool::kHuge)),
                  .vms = {},
                  .talks = {},
                  .moves = {},
                  .domains_changed = true};
  for (const Node& node : state.topology.nodes) {
    SimNode cpus;
    cpus.cpus = node.cpus;
    std::ranges::copy_if(host.others, std::back_inserter(cpus.other_loads),
                         [&node](const OtherLoad& other) { return other.node == node.id; });
    state.nodes.push_back(std::move(cpus));
  }
  return state;
}

void describe(SimVm& vm) {
  VmDescription& description = vm.description;
  description.name = vm.spec.name;
  description.domain_id = static_cast<std::int32_t>(vm.owner) + 1;
  description.max_vcpus = vm.spec.vcpus;
  description.memory = vm.spec.memory;
  description.max_memory = vm.spec.memory;
  description.huge_page_size = vm.spec.huge_pages ? kSimPage : Bytes{};
  description.io_threads = {1};
  description.policy = vm.spec.policy;
  description.numatune = vm.spec.numatune;
  if (vm.spec.numatune != NumatuneMode::kNone) {
    for (const NodeBytes& part : vm.spec.memory_on) {
      description.numatune_nodes.push_back(part.node);
    }
  }
  for (std::int32_t cell = 0; cell < vm.spec.cells; ++cell) {
    description.cells.push_back({cell, {}, vm.spec.memory / vm.spec.cells});
  }
  for (std::int32_t vcpu = 0; vcpu < vm.spec.vcpus; ++vcpu) {
    description.vcpus.push_back(vcpu);
    if (vm.spec.cells > 0) {
      description.cells[cell_of(vm, static_cast<std::size_t>(vcpu))].vcpus.push_back(vcpu);
    }
  }
}

/// Pins each client to the node on which it is found pinned, as left by an administrator or an
/// earlier balancer.
void pin_as_found(SimVm& vm, const HostState& host, bool prefer_ht) {
  if (vm.spec.pinned_on.empty()) {
    return;
  }
  VmDescription& description = vm.description;
  const auto clients = split_into_clients(description, host.topology, prefer_ht);
  for (std::size_t client = 0; client < clients.size(); ++client) {
    const NodeId node = vm.spec.pinned_on[client % vm.spec.pinned_on.size()];
    std::vector<CpuId> cpus = mapped(host.nodes[*host.topology.index_of(node)].cpus, &Cpu::id);
    for (const std::int32_t vcpu : clients[client].vcpus) {
      description.vcpu_pins.push_back({vcpu, cpus});
    }
    description.emulator_pin.insert(description.emulator_pin.end(), cpus.begin(), cpus.end());
  }
  description.emulator_pin = sorted_unique(std::move(description.emulator_pin));
  description.io_thread_pins = {{1, description.emulator_pin}};
}

/// Returns the first CPU of each vCPU's node, because the exact CPU does not matter.
std::vector<CpuId> last_cpus(const SimVm& vm, const Topology& topology) {
  std::vector<CpuId> cpus;
  for (const SimVcpu& vcpu : vm.vcpus) {
    if (vcpu.node == kNoNode || topology.nodes[vcpu.node].cpus.empty()) {
      return {};
    }
    cpus.push_back(topology.nodes[vcpu.node].cpus.front().id);
  }
  return cpus;
}

void begin_epoch(SimVm& vm, std::int64_t epoch) {
  vm.load_pct = load_at(vm.spec, epoch);
  if (vm.spec.noise_pct > 0 && vm.load_pct > 0) {
    vm.load_pct += vm.random.below(2 * vm.spec.noise_pct + 1) - vm.spec.noise_pct;
    vm.load_pct = std::clamp<std::int64_t>(vm.load_pct, 0, 100);
  }
}

}  // namespace

SimHost::SimHost(const ScenarioHost& host, std::uint64_t seed, bool prefer_ht, Microseconds& clock)
    : state_(state_of(host, seed, clock)),
      cpus_(host.others, seed, host.nodes.size()),
      libvirt_(state_),
      kernel_(state_),
      counters_(state_),
      read_turns_(host.counts_reads ? &counters_ : nullptr),
      prefer_ht_(prefer_ht),
      firmware_distances_(host.firmware_distances),
      distances_are_measured_(host.distances_are_measured) {}

VmId SimHost::id_of_started(std::size_t number) {
  VmId id;
  id.uuid = {0x51, 0x3a, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t byte = 0; byte < 4; ++byte) {
    id.uuid[15 - byte] = static_cast<std::uint8_t>(((number + 1) >> (8 * byte)) & 0xffU);
  }
  return id;
}

// ---- events ----

VmId SimHost::start(const ScenarioVm& spec) {
  constexpr std::int64_t kPidsPerVm = 5000;  // more than a VM has threads
  const SimMemory::Owner owner = next_owner_++;
  const auto number = static_cast<std::int64_t>(owner);
  SimVm vm;
  vm.spec = spec;
  vm.owner = owner;
  vm.process = {10'000 + number * kPidsPerVm, static_cast<std::uint64_t>(500 + number)};
  vm.random = random_for(state_.seed, owner);
  vm.users = random_for(state_.seed + 1, owner);
  vm.vcpus.resize(static_cast<std::size_t>(spec.vcpus));
  vm.description.id = id_of_started(owner);
  describe(vm);
  pin_as_found(vm, state_, prefer_ht_);
  state_.memory.add(owner, spec.memory.value / kSimPage.value, spec.cells,
                    spec.huge_pages ? SimPool::kHuge : SimPool::kOrdinary);
  fill_memory(state_, vm);
  tools::begin_epoch(vm, epoch_);
  state_.domains_changed = true;
  const VmId id = vm.description.id;
  state_.vms.emplace(id, std::move(vm));
  return id;
}

void SimHost::stop(const VmId& id) {
  const auto vm = state_.vms.find(id);
  if (vm == state_.vms.end()) {
    return;
  }
  state_.memory.remove(vm->second.owner);
  state_.talks.remove(id);
  state_.vms.erase(vm);
  state_.domains_changed = true;
}

void SimHost::set_load(const VmId& id, std::int64_t pct) {
  if (SimVm* vm = state_.find(id); vm != nullptr) {
    vm->spec.load = {{.from = 0, .pct = pct}};
    vm->spec.load_repeats = 0;
    tools::begin_epoch(*vm, epoch_);
  }
}

void SimHost::balance_numa(const VmId& id) {
  if (SimVm* vm = state_.find(id); vm != nullptr) {
    balance_memory(state_, *vm);
  }
}

void SimHost::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  for (auto& [id, vm] : state_.vms) {
    tools::begin_epoch(vm, epoch);
  }
  cpus_.begin_epoch(state_, epoch);
}

void SimHost::run(Microseconds time) {
  const CpuTime length{time.value};
  cpus_.run(state_, length);
  for (SimNode& node : state_.nodes) {
    node.moved = Bytes{};
  }
  for (auto& [id, vm] : state_.vms) {
    touch_memory(state_, vm);
    scan_memory(state_, vm, length);
  }
  epoch_so_far_ += length;
}

// ---- faults ----

void SimHost::set(const VmId& id, bool SimVm::*fault, bool begins) {
  if (SimVm* vm = state_.find(id); vm != nullptr) {
    vm->*fault = begins;
  }
}

void SimHost::take_memory(NodeId node, bool take) {
  const NodeIndex index = *state_.topology.index_of(node);
  if (take) {
    state_.memory.take_away(index);
  } else {
    state_.memory.give_back(index);
  }
}

void SimHost::set_online(NodeId node, bool online) {
  const NodeIndex index = *state_.topology.index_of(node);
  state_.topology.nodes[index].cpus = online ? state_.nodes[index].cpus : std::vector<Cpu>{};
  for (auto& [id, vm] : state_.vms) {
    vm.places_are_known = false;
  }
}

void SimHost::take_cores(NodeId node, std::int32_t cores) {
  set_online(node, false);
  const NodeIndex index = *state_.topology.index_of(node);
  std::set<std::int32_t> all;
  for (const Cpu& cpu : state_.nodes[index].cpus) {
    all.insert(cpu.core);
  }
  const std::int64_t kept = cores == 0 ? 0 : std::ssize(all) - cores;
  for (const Cpu& cpu : state_.nodes[index].cpus) {
    if (std::distance(all.begin(), all.find(cpu.core)) < kept) {
      state_.topology.nodes[index].cpus.push_back(cpu);
    }
  }
}

// ---- observation ----

Topology SimHost::firmware_topology() const {
  Topology topology = state_.topology;
  if (!firmware_distances_.empty()) {
    topology.distances = firmware_distances_;
  }
  return topology;
}

Sample SimHost::sample(std::int64_t sequence, Microseconds now, const std::set<VmId>& spilling) {
  Sample sample;
  sample.sequence = sequence;
  sample.taken_at = now;
  for (NodeIndex node = 0; node < state_.topology.nodes.size(); ++node) {
    sample.nodes.push_back({state_.topology.nodes[node].id, kSimPage * state_.memory.free(node),
                            state_.topology.nodes[node].memory,
                            state_.topology.nodes[node].huge_pages, state_.nodes[node].copying_us});
    const auto cpus = static_cast<std::int64_t>(state_.nodes[node].cpus.size());
    for (std::int64_t i = 0; i < cpus; ++i) {
      // Divided evenly; no CPU's time decreases when the node's time grows.
      sample.cpus.push_back({state_.nodes[node].cpus[static_cast<std::size_t>(i)].id,
                             (state_.nodes[node].busy_us + cpus - 1 - i) / cpus});
    }
  }
  std::ranges::sort(sample.cpus, {}, &CpuSample::id);
  for (const auto& [id, vm] : state_.vms) {
    VmSample row;
    row.id = id;
    row.process = vm.process;
    row.weight = vm.spec.shares;
    row.throttled_us = vm.throttled_us;
    row.beside_us = vm.beside_us;
    if (vm.spec.limit_pct) {
      row.quota_permille = *vm.spec.limit_pct * 10;
    }
    for (std::size_t vcpu = 0; vcpu < vm.vcpus.size(); ++vcpu) {
      row.vcpus.push_back({static_cast<std::int32_t>(vcpu),
                           vm.process.pid + 1 + static_cast<std::int64_t>(vcpu),
                           vm.vcpus[vcpu].ran_us * 1000, vm.vcpus[vcpu].waited_us * 1000});
    }
    if (spilling.contains(id)) {
      row.last_cpus = last_cpus(vm, state_.topology);
    }
    row.memory = in_bytes(state_.memory.counts(vm.owner));
    for (std::size_t cell = 0; cell < vm.description.cells.size(); ++cell) {
      row.cell_memory.push_back(in_bytes(state_.memory.counts(vm.owner, cell)));
    }
    sample.vms.push_back(std::move(row));
  }
  if (!state_.talks.empty()) {
    sample.wakeups = state_.talks.counters();
  }
  read_turns_.take_turns(sample);
  return sample;
}

EpochTruth SimHost::take_truth() {
  EpochTruth truth;
  truth.length = std::exchange(epoch_so_far_, CpuTime{});
  truth.topology = state_.topology;
  for (SimNode& node : state_.nodes) {
    truth.others.push_back(std::exchange(node.others, CpuTime{}));
    truth.roaming.push_back(std::exchange(node.roamed, CpuTime{}));
  }
  for (auto& [id, vm] : state_.vms) {
    const CpuTime reserved =
        truth.length * vm.spec.vcpus * vm.description.policy.reservation_permille / 1000;
    VmTruth row{.id = id,
                .shares = vm.spec.shares,
                .reserved = reserved,
                .vcpus = {},
                .memory = in_bytes(state_.memory.counts(vm.owner))};
    for (SimVcpu& vcpu : vm.vcpus) {
      vcpu.truth.node = vcpu.node;
      row.vcpus.push_back(std::exchange(vcpu.truth, VcpuTruth{}));
    }
    truth.vms.push_back(std::move(row));
  }
  return truth;
}

std::vector<PageMove> SimHost::take_moves() {
  return std::exchange(state_.moves, {});
}

Result<std::vector<VmDescription>> SimHost::refresh() {
  state_.domains_changed = false;
  std::vector<VmDescription> running;
  for (const auto& [id, vm] : state_.vms) {
    running.push_back(vm.description);
  }
  return running;
}

}  // namespace vmnuma::tools
