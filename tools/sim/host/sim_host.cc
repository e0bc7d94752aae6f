// SPDX-License-Identifier: Apache-2.0
/// Which VMs there are, what goes wrong, and what can be seen. The rest of the host:
/// sim_host_cpus.cc and sim_host_ports.cc.
#include "tools/sim/host/sim_host.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "placement/base/result.h"
#include "placement/clients.h"

namespace vmnuma::tools {

using placement::Bytes;
using placement::CpuId;
using placement::CpuTime;
using placement::NodeId;
using placement::NodeIndex;
using placement::VmId;

namespace {

/// Of one CPU, in this epoch.
std::int64_t pct_of(const std::vector<OtherLoad>& loads, std::int64_t epoch) {
  std::int64_t pct = 0;
  for (const OtherLoad& load : loads) {
    if (load.from <= epoch && (!load.until || epoch < *load.until)) {
      pct += load.pct;
    }
  }
  return pct;
}

SimMemory::Counts huge_pages_of(const ScenarioHost& host) {
  SimMemory::Counts pages;
  for (const ScenarioNode& node : host.nodes) {
    pages.push_back(node.huge_pages.value / kSimPage.value);
  }
  return pages;
}

SimMemory::Counts ordinary_pages_of(const ScenarioHost& host) {
  SimMemory::Counts pages = huge_pages_of(host);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    pages[i] = host.nodes[i].memory.value / kSimPage.value - pages[i];
  }
  return pages;
}

/// CPUs as the kernel numbers them on most machines: first threads of all cores, then second ones.
placement::Topology make_topology(const ScenarioHost& host) {
  placement::Topology topology;
  topology.distances = host.distances;
  std::int32_t first_core = 0;
  std::int32_t all_cores = 0;
  for (const ScenarioNode& node : host.nodes) {
    all_cores += node.cores;
  }
  for (const ScenarioNode& node : host.nodes) {
    placement::Node made{.id = node.id,
                         .cpus = {},
                         .memory = node.memory,
                         .package = node.id.value,
                         .huge_pages = {}};
    if (node.huge_pages > Bytes{}) {
      made.huge_pages.push_back({kSimPage, node.huge_pages.value / kSimPage.value});
    }
    for (std::int32_t thread = 0; thread < node.threads_per_core; ++thread) {
      for (std::int32_t core = first_core; core < first_core + node.cores; ++core) {
        // Cores of one cache follow each other.
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

}  // namespace

placement::Topology SimHost::firmware_topology() const {
  placement::Topology topology = topology_;
  if (!firmware_distances_.empty()) {
    topology.distances = firmware_distances_;
  }
  return topology;
}

VmId SimHost::id_of_started(std::size_t number) {
  VmId id;
  id.uuid = {0x51, 0x3a, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t byte = 0; byte < 4; ++byte) {
    id.uuid[15 - byte] = static_cast<std::uint8_t>(((number + 1) >> (8 * byte)) & 0xffU);
  }
  return id;
}

SimHost::SimHost(const ScenarioHost& host, std::uint64_t seed, bool prefer_ht, SimClock& clock)
    : clock_(clock),
      seed_(seed),
      prefer_ht_(prefer_ht),
      topology_(make_topology(host)),
      firmware_distances_(host.firmware_distances),
      distances_are_measured_(host.distances_are_measured),
      memory_(ordinary_pages_of(host), host.distances, huge_pages_of(host)),
      load_balancer_(seed),
      read_turns_(host.counts_reads ? this : nullptr) {
  for (const placement::Node& node : topology_.nodes) {
    NodeCpus cpus;
    cpus.cpus = node.cpus;
    for (const OtherLoad& other : host.others) {
      if (other.node == node.id) {
        cpus.other_loads.push_back(other);
      }
    }
    nodes_.push_back(std::move(cpus));
  }
  std::copy_if(host.others.begin(), host.others.end(), std::back_inserter(roaming_loads_),
               [](const OtherLoad& other) { return !other.node; });
}

// ---- VMs ----

VmId SimHost::start(const ScenarioVm& spec) {
  constexpr std::int64_t kPidsPerVm = 2000;
  const SimMemory::Owner owner = next_owner_++;
  const auto number = static_cast<std::int64_t>(owner);
  Vm vm;
  vm.spec = spec;
  vm.owner = owner;
  vm.process = {10'000 + number * kPidsPerVm, static_cast<std::uint64_t>(500 + number)};
  vm.random = random_for(seed_, owner);
  vm.users = random_for(seed_ + 1, owner);
  vm.vcpus.resize(static_cast<std::size_t>(spec.vcpus));
  vm.description.id = id_of_started(owner);
  describe(vm);
  pin_as_found(vm);
  memory_.add(owner, spec.memory.value / kSimPage.value, spec.cells,
              spec.huge_pages ? SimPool::kHuge : SimPool::kOrdinary);
  fill_memory(vm);
  begin_epoch(vm);
  domains_changed_ = true;
  const VmId id = vm.description.id;
  vms_.emplace(id, std::move(vm));
  return id;
}

void SimHost::describe(Vm& vm) const {
  placement::VmDescription& description = vm.description;
  description.name = vm.spec.name;
  description.domain_id = static_cast<std::int32_t>(vm.owner) + 1;
  description.max_vcpus = vm.spec.vcpus;
  description.memory = vm.spec.memory;
  description.max_memory = vm.spec.memory;
  description.huge_page_size = vm.spec.huge_pages ? kSimPage : Bytes{};
  description.io_threads = {1};
  description.policy = vm.spec.policy;
  description.numatune = vm.spec.numatune;
  if (vm.spec.numatune != placement::NumatuneMode::kNone) {
    for (const migration::NodeBytes& part : vm.spec.memory_on) {
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

/// Client by client on the nodes it is found pinned on, as an administrator or a balancer that ran
/// before has left it.
void SimHost::pin_as_found(Vm& vm) const {
  if (vm.spec.pinned_on.empty()) {
    return;
  }
  placement::VmDescription& description = vm.description;
  const auto clients = split_into_clients(description, topology_, prefer_ht_);
  for (std::size_t client = 0; client < clients.size(); ++client) {
    const NodeId node = vm.spec.pinned_on[client % vm.spec.pinned_on.size()];
    std::vector<CpuId> cpus;
    for (const placement::Cpu& cpu : nodes_[*topology_.index_of(node)].cpus) {
      cpus.push_back(cpu.id);
    }
    for (const std::int32_t vcpu : clients[client].vcpus) {
      description.vcpu_pins.push_back({vcpu, cpus});
    }
    description.emulator_pin.insert(description.emulator_pin.end(), cpus.begin(), cpus.end());
  }
  std::sort(description.emulator_pin.begin(), description.emulator_pin.end());
  description.emulator_pin.erase(
      std::unique(description.emulator_pin.begin(), description.emulator_pin.end()),
      description.emulator_pin.end());
  description.io_thread_pins = {{1, description.emulator_pin}};
}

void SimHost::fill_memory(Vm& vm) {
  std::vector<NodeIndex> everywhere;
  for (NodeIndex node = 0; node < topology_.nodes.size(); ++node) {
    everywhere.push_back(node);
  }
  std::vector<migration::NodeBytes> parts = vm.spec.memory_on;
  const std::vector<NodeId>& nodes =
      vm.spec.placed_on.empty() ? vm.spec.pinned_on : vm.spec.placed_on;
  if (parts.empty() && !nodes.empty()) {
    const auto count = static_cast<std::int64_t>(nodes.size());
    const std::int64_t pages = memory_.pages(vm.owner);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t share = pages / count + (i < pages % count ? 1 : 0);
      parts.push_back({nodes[static_cast<std::size_t>(i)], kSimPage * share});
    }
  }
  std::size_t cell = 0;
  for (const migration::NodeBytes& part : parts) {
    const NodeIndex node = *topology_.index_of(part.node);
    for (std::int64_t pages = part.bytes.value / kSimPage.value; pages > 0;) {
      const std::int64_t before = memory_.untouched_pages(vm.owner, cell);
      memory_.touch(vm.owner, cell, pages, node, everywhere);
      const std::int64_t touched = before - memory_.untouched_pages(vm.owner, cell);
      pages -= touched;
      const bool cell_is_full = touched == before;
      if ((!cell_is_full && touched == 0) || (cell_is_full && ++cell == memory_.cells(vm.owner))) {
        return;
      }
    }
  }
}

void SimHost::stop(const VmId& id) {
  const auto vm = vms_.find(id);
  if (vm == vms_.end()) {
    return;
  }
  memory_.remove(vm->second.owner);
  talks_.remove(id);
  vms_.erase(vm);
  domains_changed_ = true;
}

void SimHost::set_load(const VmId& id, std::int64_t pct) {
  if (const auto vm = vms_.find(id); vm != vms_.end()) {
    vm->second.spec.load = {{.from = 0, .pct = pct}};
    vm->second.spec.load_repeats = 0;
    begin_epoch(vm->second);
  }
}

void SimHost::begin_epoch(Vm& vm) const {
  vm.load_pct = load_at(vm.spec, epoch_);
  if (vm.spec.noise_pct > 0 && vm.load_pct > 0) {
    vm.load_pct += vm.random.below(2 * vm.spec.noise_pct + 1) - vm.spec.noise_pct;
    vm.load_pct = std::clamp<std::int64_t>(vm.load_pct, 0, 100);
  }
}

void SimHost::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  for (auto& [id, vm] : vms_) {
    begin_epoch(vm);
  }
  for (NodeCpus& node : nodes_) {
    node.other_pct = pct_of(node.other_loads, epoch);
  }
  roaming_pct_ = pct_of(roaming_loads_, epoch);
}

// ---- what goes wrong ----

void SimHost::refuse_pins(const VmId& vm, bool refuse) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.refuses_pins = refuse;
  }
}

void SimHost::keep_pages_busy(const VmId& vm, bool busy) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.pages_busy = busy;
  }
}

void SimHost::refuse_memory(const VmId& vm, bool refuse) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.finds_no_memory = refuse;
  }
}

void SimHost::slow_down_libvirt(const VmId& vm, bool slow) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.slow_pins = slow;
  }
}

void SimHost::take_memory(NodeId node, bool take) {
  const NodeIndex index = *topology_.index_of(node);
  if (take) {
    memory_.take_away(index);
  } else {
    memory_.give_back(index);
  }
}

void SimHost::set_online(NodeId node, bool online) {
  const NodeIndex index = *topology_.index_of(node);
  topology_.nodes[index].cpus = online ? nodes_[index].cpus : std::vector<placement::Cpu>{};
  for (auto& [id, vm] : vms_) {
    vm.places_are_known = false;
  }
}

void SimHost::take_cores(NodeId node, std::int32_t cores) {
  set_online(node, false);
  const NodeIndex index = *topology_.index_of(node);
  std::set<std::int32_t> all;
  for (const placement::Cpu& cpu : nodes_[index].cpus) {
    all.insert(cpu.core);
  }
  const std::int64_t kept = cores == 0 ? 0 : std::ssize(all) - cores;
  for (const placement::Cpu& cpu : nodes_[index].cpus) {
    if (std::distance(all.begin(), all.find(cpu.core)) < kept) {
      topology_.nodes[index].cpus.push_back(cpu);
    }
  }
}

// ---- what there is to see ----

/// What one thread reads from the moment it was made on.
class SimHost::ReadCounter final : public stats::ThreadCounter {
 public:
  ReadCounter(const SimHost& host, std::int64_t tid) : host_(host), tid_(tid), before_(so_far()) {}

  [[nodiscard]] Result<stats::ThreadCount> read() const override {
    const stats::ThreadCount now = so_far();
    const std::int64_t ran_ns = now.ran_ns - before_.ran_ns;
    return stats::ThreadCount{
        .reads = now.reads - before_.reads, .counted_ns = ran_ns, .ran_ns = ran_ns};
  }

 private:
  /// Nothing more of a thread that has ended, whose VM is not asked about again.
  [[nodiscard]] stats::ThreadCount so_far() const {
    const Vcpu* vcpu = host_.find_thread(tid_);
    return vcpu == nullptr
               ? stats::ThreadCount{}
               : stats::ThreadCount{.reads = vcpu->reads, .ran_ns = vcpu->ran_us * 1000};
  }

  const SimHost& host_;
  std::int64_t tid_;
  stats::ThreadCount before_;
};

const SimHost::Vcpu* SimHost::find_thread(std::int64_t tid) const {
  for (const auto& [id, vm] : vms_) {
    const std::int64_t vcpu = tid - vm.process.pid - 1;
    if (vcpu >= 0 && vcpu < static_cast<std::int64_t>(vm.vcpus.size())) {
      return &vm.vcpus[static_cast<std::size_t>(vcpu)];
    }
  }
  return nullptr;
}

Result<std::unique_ptr<stats::ThreadCounter>> SimHost::count(std::int64_t tid) {
  if (find_thread(tid) == nullptr) {
    return failure(ErrorCode::kVanished, "there is no such thread");
  }
  return std::make_unique<ReadCounter>(*this, tid);
}

placement::Sample SimHost::sample(std::int64_t sequence, placement::Microseconds now) {
  placement::Sample sample;
  sample.sequence = sequence;
  sample.taken_at = now;
  for (NodeIndex node = 0; node < topology_.nodes.size(); ++node) {
    sample.nodes.push_back({topology_.nodes[node].id, kSimPage * memory_.free(node),
                            topology_.nodes[node].memory, topology_.nodes[node].huge_pages,
                            nodes_[node].copying_us});
    const auto cpus = static_cast<std::int64_t>(nodes_[node].cpus.size());
    for (std::int64_t i = 0; i < cpus; ++i) {
      // Evenly, and never backwards when the node's time grows.
      sample.cpus.push_back({nodes_[node].cpus[static_cast<std::size_t>(i)].id,
                             (nodes_[node].busy_us + cpus - 1 - i) / cpus});
    }
  }
  std::sort(
      sample.cpus.begin(), sample.cpus.end(),
      [](const placement::CpuSample& a, const placement::CpuSample& b) { return a.id < b.id; });
  for (const auto& [id, vm] : vms_) {
    placement::VmSample row;
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
    std::vector<Bytes> memory;
    for (const std::int64_t pages : memory_.counts(vm.owner)) {
      memory.push_back(kSimPage * pages);
    }
    row.memory = std::move(memory);
    for (std::size_t cell = 0; cell < vm.description.cells.size(); ++cell) {
      std::vector<Bytes>& on_nodes = row.cell_memory.emplace_back();
      for (const std::int64_t pages : memory_.counts(vm.owner, cell)) {
        on_nodes.push_back(kSimPage * pages);
      }
    }
    sample.vms.push_back(std::move(row));
  }
  if (!talks_.empty()) {
    sample.wakeups = talks_.counters();
  }
  read_turns_.take_turns(sample);
  return sample;
}

std::vector<std::int32_t> SimHost::vcpus_on(const VmId& vm) const {
  std::vector<std::int32_t> count(nodes_.size());
  for (const Vcpu& vcpu : vms_.at(vm).vcpus) {
    if (vcpu.node != placement::kNoNode) {
      ++count[vcpu.node];
    }
  }
  return count;
}

EpochTruth SimHost::take_truth() {
  EpochTruth truth;
  truth.length = std::exchange(epoch_so_far_, CpuTime{});
  truth.topology = topology_;
  for (NodeCpus& node : nodes_) {
    truth.others.push_back(std::exchange(node.others, CpuTime{}));
    truth.roaming.push_back(std::exchange(node.roamed, CpuTime{}));
  }
  for (auto& [id, vm] : vms_) {
    const CpuTime reserved =
        truth.length * vm.spec.vcpus * vm.description.policy.reservation_permille / 1000;
    VmTruth row{
        .id = id, .shares = vm.spec.shares, .reserved = reserved, .vcpus = {}, .memory = {}};
    for (Vcpu& vcpu : vm.vcpus) {
      vcpu.truth.node = vcpu.node;
      row.vcpus.push_back(std::exchange(vcpu.truth, VcpuTruth{}));
    }
    for (const std::int64_t pages : memory_.counts(vm.owner)) {
      row.memory.push_back(kSimPage * pages);
    }
    truth.vms.push_back(std::move(row));
  }
  return truth;
}

std::vector<PageMove> SimHost::take_moves() {
  return std::exchange(moves_, {});
}

Result<std::vector<placement::VmDescription>> SimHost::refresh() {
  domains_changed_ = false;
  std::vector<placement::VmDescription> running;
  for (const auto& [id, vm] : vms_) {
    running.push_back(vm.description);
  }
  return running;
}

}  // namespace vmnuma::tools
