// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/sound.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/record/fields.h"
#include "placement/memory_cost.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// Linux 6.1, include/linux/numa.h and arch/x86/Kconfig: NODES_SHIFT is at most 10, NR_CPUS 8192.
constexpr std::size_t kMostNodes = 1024;
constexpr std::size_t kMostCpus = std::size_t{1} << 16U;
constexpr std::int32_t kMostDistance = 1'000'000;
/// As in domain_xml.cc.
constexpr std::int32_t kMostIoThreads = 1024;
constexpr std::size_t kMostCells = 1024;
constexpr std::size_t kMostSteps = 65536;  // if each client moves once
/// cgroup v1 allows shares of up to 262144.
constexpr std::int32_t kMostWeight = 1 << 20U;
/// Three days. Limits the time of thousands of CPUs, in thousandths, to the range of its type.
constexpr Microseconds kLongestEpoch{std::int64_t{1} << 38U};
constexpr std::int64_t kMostPermille = 1000;

/// Keeps the first problem.
class Findings {
 public:
  template <class... T>
  bool require(bool holds, fmt::format_string<T...> text, T&&... arguments) {
    if (!holds && wrong_.empty()) {
      wrong_ = fmt::format(text, std::forward<T>(arguments)...);
    }
    return holds;
  }
  [[nodiscard]] bool any() const { return !wrong_.empty(); }
  [[nodiscard]] Result<void> result() && {
    if (wrong_.empty()) {
      return {};
    }
    return failure(ErrorCode::kCorrupt, std::move(wrong_));
  }

 private:
  std::string wrong_;
};

template <class Range, class Key = std::identity>
bool ascends(const Range& values, const Key& key = {}) {
  return std::ranges::adjacent_find(
             values, [](const auto& a, const auto& b) { return !(a < b); }, key) == values.end();
}

std::int64_t number_of(std::int32_t number) {
  return number;
}
std::int64_t number_of(const auto& id) {
  return id.value;
}

/// True if the numbers ascend, from 0 or more to less than `end`.
template <class Range, class Key = std::identity>
bool is_list_of(const Range& values, std::int64_t end, const Key& key = {}) {
  return ascends(values, key) &&
         (values.empty() || (number_of(std::invoke(key, values.front())) >= 0 &&
                             number_of(std::invoke(key, values.back())) < end));
}

/// True for a list of CPUs or nodes.
bool is_list(const auto& ids) {
  return is_list_of(ids, kMostCpus);
}

template <class Range, class Key = std::identity>
bool are_lists(const Range& values, const Key& key = {}) {
  return std::ranges::all_of(
      values, [](const std::vector<CpuId>& cpus) { return is_list(cpus); }, key);
}

bool are_nodes(const std::vector<NodeIndex>& nodes, std::size_t count) {
  return ascends(nodes) && (nodes.empty() || nodes.back() < count);
}

bool is_node_or_none(NodeIndex node, std::size_t count) {
  return node == kNoNode || node < count;
}

bool is_known_or_none(NodeId node, const Topology& topology) {
  return node.value < 0 || topology.index_of(node).has_value();
}

bool is_within(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value >= least && value <= most;
}

template <class Amount>
bool none_negative(const std::vector<Amount>& amounts) {
  return std::ranges::all_of(amounts, [](Amount amount) { return amount >= Amount{}; });
}

// ---- the host ----

void check(const Topology& topology, Findings& findings) {
  const std::size_t count = topology.nodes.size();
  findings.require(count <= kMostNodes, "the topology has {} nodes", count);
  findings.require(topology.distances.size() == count * count,
                   "the topology has {} distances between {} nodes", topology.distances.size(),
                   count);
  findings.require(std::ranges::all_of(
                       topology.distances,
                       [](std::int32_t distance) { return is_within(distance, 0, kMostDistance); }),
                   "the topology has a distance out of range");
  findings.require(is_list_of(topology.nodes, kMostCpus, &Node::id),
                   "the topology's nodes do not ascend");
  for (const Node& node : topology.nodes) {
    const std::int32_t id = node.id.value;
    findings.require(is_list_of(node.cpus, kMostCpus, &Cpu::id),
                     "the CPUs of node {} do not ascend", id);
    findings.require(node.memory >= Bytes{}, "node {} has less than no memory", id);
    for (const HugePagePool& pool : node.huge_pages) {
      findings.require(
          pool.page_size > Bytes{} && is_within(pool.pages, 0, kMostAmount / pool.page_size.value),
          "node {} has a pool of huge pages that cannot be", id);
    }
  }
  const std::vector<CpuId> all = topology.cpu_ids();
  findings.require(std::adjacent_find(all.begin(), all.end()) == all.end(),
                   "the topology has a CPU on two nodes");
}

void check(const Options& options, Findings& findings) {
  for (const OptionRow& info : option_table()) {
    const std::int64_t value = options.*(info.value);
    findings.require(is_within(value, info.smallest, info.largest), "{} is {}", info.name, value);
  }
}

// ---- VMs ----

void check(const VmPolicy& policy, Findings& findings) {
  findings.require(is_within(policy.max_per_node, 0, kMostVcpus) &&
                       is_within(policy.max_per_client, 0, kMostVcpus) &&
                       is_within(policy.reservation_permille, 0, kMostPermille) &&
                       is_within(policy.max_allowable_numa_nodes, 0, kMostNodes) &&
                       is_within(policy.priority, -kMostPriority, kMostPriority) &&
                       is_within(policy.locality_weight_pct, 0, 1000) && is_list(policy.nodes),
                   "a policy has a number out of range");
}

void check(const std::map<std::string, VmPolicy>& policies, Findings& findings) {
  for (const auto& [vm, policy] : policies) {
    check(policy, findings);
  }
}

void check(const std::vector<Pin>& pins, const std::string& vm, Findings& findings) {
  findings.require(is_list_of(pins, kMostCpus, &Pin::number), "the pins of VM {} do not ascend",
                   vm);
  findings.require(are_lists(pins, &Pin::cpus), "a pin of VM {} is no list of CPUs", vm);
}

void check(const VmDescription& vm, Findings& findings) {
  const std::string id = to_text(vm.id);
  findings.require(vm.vcpus.size() <= kMostVcpus && is_list_of(vm.vcpus, kMostCpus),
                   "the vCPUs of VM {} do not ascend, or are too many", id);
  findings.require(is_within(vm.max_vcpus, 0, kMostVcpus), "VM {} has too many vCPUs", id);
  findings.require(vm.memory >= Bytes{} && vm.max_memory >= Bytes{} && vm.huge_page_size >= Bytes{},
                   "VM {} has less than no memory", id);
  findings.require(vm.cells.size() <= kMostCells && is_list_of(vm.cells, kMostCpus, &GuestCell::id),
                   "the cells of VM {} do not ascend, or are too many", id);
  for (const GuestCell& cell : vm.cells) {
    findings.require(is_list_of(cell.vcpus, kMostCpus) && cell.memory >= Bytes{} &&
                         (!cell.binding || is_list(cell.binding->nodes)),
                     "cell {} of VM {} has vCPUs, memory or nodes that cannot be", cell.id, id);
  }
  for (const std::int32_t count : {vm.sockets, vm.dies, vm.cores, vm.threads}) {
    findings.require(is_within(count, 0, kMostVcpus), "VM {} has a topology that cannot be", id);
  }
  findings.require(vm.io_threads.size() <= kMostIoThreads && ascends(vm.io_threads),
                   "the I/O threads of VM {} do not ascend, or are too many", id);
  findings.require(is_list(vm.numatune_nodes) && is_list(vm.emulator_pin),
                   "VM {} has a list that does not ascend", id);
  check(vm.vcpu_pins, id, findings);
  check(vm.io_thread_pins, id, findings);
  check(vm.policy, findings);
}

void check(const std::vector<VmDescription>& vms, Findings& findings) {
  findings.require(ascends(vms, &VmDescription::id), "the running VMs do not ascend");
  for (const VmDescription& vm : vms) {
    check(vm, findings);
  }
}

bool are_cpus_of_vm(const VmCpus& cpus) {
  return is_list(cpus.reach) && are_lists(cpus.clients);
}

// ---- readings ----

void check(const VmSample& sample, Findings& findings) {
  const std::string id = to_text(sample.id);
  findings.require(is_list_of(sample.vcpus, kMostCpus, &VcpuSample::vcpu),
                   "the vCPUs in the sample of VM {} do not ascend", id);
  for (const VcpuSample& vcpu : sample.vcpus) {
    findings.require(vcpu.run_ns >= 0 && vcpu.wait_ns >= 0,
                     "vCPU {} of VM {} ran or waited for less than no time", vcpu.vcpu, id);
  }
  findings.require(
      (sample.last_cpus.empty() || sample.last_cpus.size() == sample.vcpus.size()) &&
          std::ranges::all_of(sample.last_cpus, [](CpuId cpu) { return cpu.value >= 0; }),
      "VM {} has vCPUs that ran on a CPU that cannot be", id);
  findings.require(
      is_within(sample.weight, 0, kMostWeight) && sample.throttled_us >= 0 &&
          is_within(sample.beside_us.value_or(0), 0, kMostAmount) &&
          is_within(sample.quota_permille.value_or(0), 0, std::int64_t{kMostVcpus} * kMostPermille),
      "VM {} has a weight, quota or time that cannot be", id);
  findings.require(none_negative(sample.memory.value_or(std::vector<Bytes>{})) &&
                       std::ranges::all_of(sample.cell_memory, none_negative<Bytes>),
                   "VM {} has less than no memory on a node", id);
  if (const auto& reads = sample.memory_reads) {
    findings.require(is_within(reads->count, 0, kMostAmount) && reads->counted >= CpuTime{} &&
                         reads->ran >= CpuTime{} && is_within(reads->cycles, 0, kMostAmount) &&
                         is_within(reads->stalled_cycles, 0, kMostAmount),
                     "VM {} has reads from memory that cannot be", id);
  }
}

void check(const Sample& sample, Findings& findings) {
  findings.require(ascends(sample.nodes, &NodeSample::id), "the nodes of the sample do not ascend");
  findings.require(ascends(sample.cpus, &CpuSample::id), "the CPUs of the sample do not ascend");
  findings.require(ascends(sample.vms, &VmSample::id), "the VMs of the sample do not ascend");
  for (const NodeSample& node : sample.nodes) {
    findings.require(node.free >= Bytes{} && node.total >= Bytes{},
                     "node {} has less than no memory", node.id.value);
    findings.require(node.copying_us >= 0, "node {} copied for less than no time", node.id.value);
  }
  for (const VmSample& vm : sample.vms) {
    check(vm, findings);
  }
  if (sample.wakeups) {
    findings.require(ascends(*sample.wakeups,
                             [](const WakeupSample& pair) { return std::pair(pair.a, pair.b); }),
                     "the wake-ups of the sample do not ascend");
  }
}

// ---- the epoch ----

void check(const NodeState& node, NodeIndex index, Findings& findings) {
  for (const CpuTime time : {node.physical, node.threads, node.non_vm, node.set_aside,
                             node.capacity, node.used, node.demand, node.entitled, node.owed}) {
    findings.require(time >= CpuTime{}, "node {} of the snapshot has less than no time", index);
  }
  findings.require(node.total >= Bytes{} && node.reserve >= Bytes{},
                   "node {} of the snapshot has less than no memory", index);
  findings.require(std::ranges::all_of(node.reservations,
                                       [](const PagesOfSize& kept) {
                                         return kept.page_size >= Bytes{} && kept.memory >= Bytes{};
                                       }) &&
                       reservations_of(node, Bytes{}) <= node.reserve,
                   "node {} of the snapshot has reservations that cannot be", index);
}

void check(const ClientState& client, const Snapshot& snapshot, Findings& findings) {
  const std::size_t nodes = snapshot.nodes.size();
  const std::string id = fmt::format("client {}/{}", to_text(client.id.vm), client.id.index);
  findings.require(!client.vcpus.empty() && is_list_of(client.vcpus, kMostCpus),
                   "{} has no vCPUs, or they do not ascend", id);
  findings.require(is_node_or_none(client.home, nodes) &&
                       is_node_or_none(client.came_from, nodes) &&
                       are_nodes(client.allowed, nodes) && are_nodes(client.bound_to, nodes),
                   "{} is on a node that is not there", id);
  findings.require(client.memory.size() == nodes || (client.memory.empty() && !client.memory_known),
                   "{} has memory on {} of {} nodes", id, client.memory.size(), nodes);
  findings.require(none_negative(client.memory) && client.memory_size >= Bytes{} &&
                       client.page_size.value_or(Bytes{}) >= Bytes{},
                   "{} has less than no memory", id);
  findings.require(is_within(client.weight, 0, std::int64_t{kMostWeight} * kMostPermille) &&
                       is_within(client.exclusive_cores, 0, static_cast<std::int64_t>(kMostCpus)),
                   "{} has a weight or cores out of range", id);
  const CpuTime most = snapshot.epoch_length * static_cast<std::int64_t>(kMostCpus);
  for (const CpuTime time : {client.demand, client.entitled, client.owed}) {
    findings.require(time >= CpuTime{} && time <= most, "{} has more time than any host", id);
  }
  for (const CpuTime time : {client.used, client.ready, client.load, client.effective_used}) {
    findings.require(time >= CpuTime{}, "{} has less than no time", id);
  }
}

void check(const Snapshot& snapshot, Findings& findings) {
  check(snapshot.topology, findings);
  const std::size_t nodes = snapshot.nodes.size();
  if (!findings.require(
          nodes == snapshot.topology.nodes.size() || (nodes == 0 && snapshot.epoch == 0),
          "the snapshot has {} of {} nodes", nodes, snapshot.topology.nodes.size())) {
    return;
  }
  findings.require(snapshot.epoch_length.value <= kLongestEpoch.value &&
                       (snapshot.epoch_length > CpuTime{} || snapshot.epoch == 0),
                   "the snapshot's epoch took {} us", snapshot.epoch_length.value);
  for (NodeIndex node = 0; node < nodes; ++node) {
    check(snapshot.nodes[node], node, findings);
  }
  findings.require(ascends(snapshot.vms, &VmState::id), "the snapshot's VMs do not ascend");
  std::size_t next = 0;
  for (std::size_t i = 0; i < snapshot.vms.size() && !findings.any(); ++i) {
    const VmState& vm = snapshot.vms[i];
    const std::string id = to_text(vm.id);
    findings.require(
        are_nodes(vm.device_nodes, nodes) && are_nodes(vm.wished_nodes, nodes) &&
            std::ranges::all_of(vm.suggested, [nodes](NodeIndex node) { return node < nodes; }),
        "VM {} of the snapshot has a node that is not there", id);
    findings.require(is_within(vm.weight, 0, kMostWeight) &&
                         is_within(vm.stall.value, 0, kMostAmount) && vm.demand >= CpuTime{} &&
                         is_within(vm.counted_stall.value_or(Permille{}).value, 0, kMostPermille),
                     "VM {} of the snapshot has a number out of range", id);
    check(vm.policy, findings);
    if (!findings.require(vm.first_client == next && vm.client_count <= kMostVcpus &&
                              vm.client_count <= snapshot.clients.size() - next,
                          "the clients of VM {} are not where they should be", id)) {
      return;
    }
    for (std::size_t index = 0; index < vm.client_count; ++index, ++next) {
      const ClientState& client = snapshot.clients[next];
      findings.require(client.vm == i && client.id.vm == vm.id &&
                           static_cast<std::size_t>(client.id.index) == index,
                       "client {} of VM {} is another's", index, id);
      check(client, snapshot, findings);
    }
  }
  findings.require(next == snapshot.clients.size(), "the snapshot has clients of no VM");
  findings.require(
      ascends(snapshot.chats, [](const Chat& chat) { return std::pair(chat.a, chat.b); }),
      "the snapshot's chats do not ascend");
}

void check(const Action& action, std::size_t nodes, Findings& findings) {
  for (const Relocation& relocation : action.relocations) {
    findings.require(is_within(relocation.client.index, 0, kMostVcpus) &&
                         is_node_or_none(relocation.from, nodes) &&
                         is_node_or_none(relocation.to, nodes) && relocation.memory >= Bytes{},
                     "an action has a client, a node or memory that cannot be");
  }
}

void check(const Plan& plan, std::size_t nodes, Findings& findings) {
  for (const Action& action : plan.actions) {
    findings.require(!action.relocations.empty(), "a planned action moves nothing");
    check(action, nodes, findings);
    for (const Relocation& relocation : action.relocations) {
      findings.require(relocation.to < nodes, "a plan takes a client nowhere");
    }
  }
  for (const Rejection& rejection : plan.rejections) {
    findings.require(is_node_or_none(rejection.from, nodes) && is_node_or_none(rejection.to, nodes),
                     "a plan has a rejection with a node that is not there");
  }
}

// ---- what the ledger remembers ----

void check(const VmRecord& vm, const Topology& topology, Findings& findings) {
  const std::string id = to_text(vm.description.id);
  check(vm.description, findings);
  findings.require(are_nodes(vm.allowed, topology.nodes.size()),
                   "VM {} may live on a node that is not there", id);
  std::vector<std::int32_t> vcpus;
  for (const ClientRecord& client : vm.clients) {
    vcpus.insert(vcpus.end(), client.shape.vcpus.begin(), client.shape.vcpus.end());
    findings.require(!client.shape.vcpus.empty() && client.shape.memory >= Bytes{},
                     "VM {} has a client without vCPUs or with less than no memory", id);
    findings.require(is_known_or_none(client.home, topology),
                     "VM {} has its home on node {}, which is not there", id, client.home.value);
    findings.require(is_within(client.exclusive_cores, 0, static_cast<std::int64_t>(kMostCpus)) &&
                         client.held.used >= CpuTime{} && client.held.ready >= CpuTime{} &&
                         client.held.demand >= CpuTime{} && client.average >= CpuTime{},
                     "VM {} has a client with a number out of range", id);
  }
  std::ranges::sort(vcpus);
  findings.require(vm.clients.empty() || vcpus == vm.description.vcpus,
                   "the clients of VM {} do not have its vCPUs", id);
  findings.require(is_within(vm.weight, 0, kMostWeight), "VM {} has a weight out of range", id);
  findings.require(none_negative(vm.memory.value_or(std::vector<Bytes>{})) &&
                       std::ranges::all_of(vm.cell_memory, none_negative<Bytes>),
                   "VM {} has less than no memory on a node", id);
  if (vm.last) {
    check(*vm.last, findings);
  }
  if (vm.beside) {
    findings.require(is_within(vm.beside->us, 0, kMostAmount) &&
                         is_within(vm.beside->averaged.value, 0, kMostAmount) &&
                         is_within(vm.beside->lasting.value, 0, kMostAmount),
                     "what VM {} uses beside its vCPUs cannot be", id);
  }
  findings.require(is_within(vm.expected.value_or(Permille{}).value, 0, kMostPermille),
                   "VM {} is expected to use more than all", id);
}

void check(const Ledger& ledger, const std::optional<Sample>& last, Findings& findings) {
  for (const auto& [id, vm] : ledger.vms()) {
    findings.require(vm.description.id == id, "VM {} is not where it should be", to_text(id));
    findings.require(!vm.last || last, "VM {} was read in no sample", to_text(id));
    check(vm, ledger.topology(), findings);
  }
}

void check(const LoadForecasts& forecasts, Findings& findings) {
  for (const auto& [vm, forecast] : forecasts) {
    findings.require(is_within(forecast.mean.value, 0, kMostPermille) &&
                         is_within(forecast.p95.value, 0, kMostPermille),
                     "VM {} is forecast to use more than all", to_text(vm));
  }
}

/// True if reserved room is within range. For moves that make room, below, it is checked only
/// before they are ordered whether their clients exist in the ledger.
bool is_room(std::int32_t vcpus, const std::vector<MemoryOnNode>& memory) {
  return vcpus >= 0 && vcpus <= kMostVcpus && memory.size() <= kMostNodes &&
         std::ranges::all_of(memory, [](const MemoryOnNode& part) {
           return part.page_size >= Bytes{} && part.memory >= Bytes{};
         });
}

bool are_steps(const std::vector<std::vector<RoomMove>>& steps) {
  return steps.size() <= kMostSteps &&
         std::ranges::all_of(steps, [](const std::vector<RoomMove>& step) {
           return !step.empty() && step.size() <= Arrangement::kMostTogether;
         });
}

// ---- events ----

void check(const RoomSearched& event, const Ledger& /*ledger*/, Findings& findings) {
  findings.require(are_steps(event.steps), "the moves that make room for VM {} cannot be",
                   to_text(event.vm));
}
void check(const SampleTaken& event, const Ledger& ledger, Findings& findings) {
  check(event.sample, findings);
  const std::optional<Sample>& last = RecordFields::last_sample(ledger);
  findings.require(!last || event.sample.taken_at - last->taken_at <= kLongestEpoch,
                   "the sample was taken days after the one before");
}
void check(const DomainsChanged& event, const Ledger& /*ledger*/, Findings& findings) {
  check(event.running, findings);
}
void check(const ConfigChanged& event, const Ledger& /*ledger*/, Findings& findings) {
  check(event.options, findings);
  check(event.policies, findings);
}
void check(const TopologyChanged& event, const Ledger& /*ledger*/, Findings& findings) {
  check(event.topology, findings);
}
void check(const LoadExpected& event, const Ledger& /*ledger*/, Findings& findings) {
  findings.require(is_within(event.per_vcpu.value, 0, kMostPermille),
                   "VM {} is expected to use more than all", to_text(event.vm));
}
void check(const LoadsForecast& event, const Ledger& /*ledger*/, Findings& findings) {
  check(event.forecasts, findings);
}
/// For events that contain nothing that could be invalid: the request was parsed like one from the
/// control socket, and unknown actions and transfers are ignored.
template <class Other>
void check(const Other& /*event*/, const Ledger& /*ledger*/, Findings& /*findings*/) {}

}  // namespace

const std::optional<Sample>& RecordFields::last_sample(const Ledger& ledger) {
  return ledger.last_sample_;
}

Result<void> check_state(const Controller& controller) {
  return RecordFields::check(controller);
}

Result<void> RecordFields::check(const Controller& controller) {
  using balancer::check;
  const ControllerState& state = controller.state_;
  const ControllerSetup& setup = state.setup;
  const Ledger& ledger = state.ledger;
  const std::size_t nodes = state.last.snapshot.topology.nodes.size();
  Findings findings;
  check(setup.topology, findings);
  check(setup.options, findings);
  check(setup.policies, findings);
  findings.require(ledger.topology_ == setup.topology && ledger.options_ == setup.options,
                   "the ledger is of another host or has other options");
  findings.require(is_within(ledger.local_read_ns_.value_or(0), 0, kLongestReadNs),
                   "reading memory takes {} ns", ledger.local_read_ns_.value_or(0));
  for (const auto& [vm, original] : state.vms.each(&ManagedVm::original)) {
    for (const auto& [thread, pins] : original.threads) {
      findings.require(is_list(pins.found) && are_lists(pins.ours),
                       "an original pin of VM {} is no list of CPUs", to_text(vm));
    }
    findings.require(is_list(original.memory_nodes.value_or(std::vector<NodeId>{})),
                     "the original memory nodes of VM {} do not ascend", to_text(vm));
  }
  check(ledger, ledger.last_sample_, findings);
  check(ledger.forecasts_, findings);
  if (ledger.last_sample_) {
    check(*ledger.last_sample_, findings);
  }
  const std::vector<CpuTime>& others = ledger.node_averages_.lasting_non_vm;
  findings.require(others.size() <= kMostNodes && none_negative(others),
                   "what others than VMs use is out of range");
  check(state.last.snapshot, findings);
  check(state.last.plan, nodes, findings);
  check(state.running, findings);
  for (const auto& [number, under_way] : state.orders.under_way_) {
    check(under_way.action, nodes, findings);
    for (const auto& [vm, cpus] : under_way.cpu_subsets_before) {
      findings.require(!cpus || are_cpus_of_vm(*cpus), "action {} has no list of CPUs", number);
    }
  }
  for (const auto& [vm, cpus] : state.vms.each(&ManagedVm::cpu_subset)) {
    findings.require(are_cpus_of_vm(cpus), "VM {} was given no list of CPUs", to_text(vm));
  }
  findings.require(state.starts.starting_.vms_.size() <= StartingVms::kMostStarting,
                   "too many VMs are starting");
  for (const StartingVm& vm : state.starts.starting_.vms_) {
    check(vm.description, findings);
    findings.require(vm.homes.size() <= kMostVcpus && is_list(vm.nodes),
                     "a starting VM has homes or nodes that cannot be");
  }
  findings.require(state.reservations.all().size() <= Reservations::kMost,
                   "there are too many reservations");
  for (const Reservation& reservation : state.reservations.all()) {
    findings.require(is_room(reservation.vcpus, reservation.memory) &&
                         reservation.homes.size() <= static_cast<std::size_t>(kMostVcpus) &&
                         (reservation.shared || reservation.taken.empty()) &&
                         std::ranges::all_of(reservation.taken,
                                             [](const SharedPart& part) {
                                               return is_room(part.vcpus, part.memory);
                                             }),
                     "a reservation is out of range");
  }
  findings.require(state.room_making.waits.size() <= RoomMaking::kMost,
                   "too many VMs wait for room");
  for (const RoomWait& wait : state.room_making.waits) {
    findings.require(wait.needed.vcpus >= 0 && wait.needed.memory >= Bytes{} &&
                         wait.needed.page_size >= Bytes{} && are_steps(wait.steps),
                     "the room that VM {} waits for is out of range", to_text(wait.vm));
    findings.require(wait.action == 0 || !wait.steps.empty(),
                     "VM {} waits for a step that is not there", to_text(wait.vm));
  }
  findings.require(is_node_or_none(state.last.last_placed_on, setup.topology.nodes.size()),
                   "the last VM was placed on a node that is not there");
  return std::move(findings).result();
}

Result<void> check_event(const Event& event, const Ledger& ledger) {
  Findings findings;
  std::visit([&](const auto& data) { check(data, ledger, findings); }, event);
  return std::move(findings).result();
}

}  // namespace vmnuma::balancer
