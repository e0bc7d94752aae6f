// SPDX-License-Identifier: Apache-2.0
// The controller's answers about VMs that are about to start: `announce`, `withdraw`, `suggest`.
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/node_lists.h"
#include "balancer/core/entitlement.h"
#include "balancer/core/new_vm.h"
#include "placement/arrangement.h"
#include "placement/exclusive_cores.h"
#include "placement/model/text.h"
#include "placement/strategy.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::ClientState;
using placement::kNoNode;
using placement::NodeId;
using placement::NodeIndex;
using placement::Permille;
using placement::Snapshot;
using placement::VmId;
using placement::VmState;

namespace {

/// So many VMs that were not admitted are remembered.
constexpr std::size_t kMostNotAdmitted = 8;
/// No architecture has larger pages than 16 GiB.
constexpr std::int64_t kMostPageKib = std::int64_t{16} << 20U;

Result<void> check_size(std::int32_t vcpus, std::int64_t memory_mib) {
  if (vcpus < 1 || vcpus > kMostVcpus) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("a VM has 1 to {} vCPUs, not {}", kMostVcpus, vcpus));
  }
  if (memory_mib < 0 || memory_mib > kMostMemoryMib) {
    return failure(
        ErrorCode::kInvalidArgument,
        fmt::format("a VM has at most {} MiB of memory, not {}", kMostMemoryMib, memory_mib));
  }
  return {};
}

Result<void> check_cells(const std::vector<AnnounceRequest::Cell>& cells) {
  for (const AnnounceRequest::Cell& cell : cells) {
    const bool good =
        std::is_sorted(cell.vcpus.begin(), cell.vcpus.end()) &&
        (cell.vcpus.empty() || (cell.vcpus.front() >= 0 && cell.vcpus.back() < kMostVcpus)) &&
        cell.memory_mib >= 0 && cell.memory_mib <= kMostMemoryMib;
    if (!good) {
      return failure(ErrorCode::kInvalidArgument,
                     "a guest NUMA cell's vCPUs are ascending numbers, its memory is as a VM's");
    }
  }
  return {};
}

std::vector<NodeId> ids_of(const std::vector<NodeIndex>& nodes,
                           const placement::Topology& topology) {
  std::vector<NodeId> ids;
  ids.reserve(nodes.size());
  for (const NodeIndex node : nodes) {
    ids.push_back(topology.nodes[node].id);
  }
  return ids;
}

/// True if it only starts where it fits together.
bool must_fit(const placement::VmPolicy& policy) {
  return policy.topology_policy == placement::TopologyPolicy::kRestricted ||
         policy.topology_policy == placement::TopologyPolicy::kSingleNumaNode;
}

Bytes bytes_of_page(std::int64_t kib) {
  return Bytes{std::clamp<std::int64_t>(kib, 0, kMostPageKib) * 1024};
}

/// The VM as far as the hook tells of it.
placement::VmDescription described(const AnnounceRequest& request, const VmId& id) {
  placement::VmDescription vm;
  vm.id = id;
  vm.name = request.vm;
  for (std::int32_t vcpu = 0; vcpu < request.vcpus; ++vcpu) {
    vm.vcpus.push_back(vcpu);
  }
  vm.max_vcpus = request.vcpus;
  vm.memory = vm.max_memory = placement::kMiB * request.memory_mib;
  for (const RequestedSetting& setting : request.policy) {
    vm.own_policy.push_back({setting.key, setting.value.value_or("")});
  }
  for (const AnnounceRequest::Device& device : request.devices) {
    vm.pci_devices.push_back({device.address, device.node});
  }
  for (const AnnounceRequest::Interface& interface : request.interfaces) {
    vm.host_interfaces.push_back({interface.name, interface.node});
  }
  for (const AnnounceRequest::Disk& disk : request.disks) {
    vm.host_disks.push_back({disk.name, disk.node});
  }
  for (const AnnounceRequest::Cell& cell : request.cells) {
    vm.cells.push_back({static_cast<std::int32_t>(vm.cells.size()), cell.vcpus,
                        placement::kMiB * cell.memory_mib});
    if (cell.huge_page_kib) {
      vm.cells.back().page_size = bytes_of_page(*cell.huge_page_kib);
    }
  }
  vm.huge_page_size = bytes_of_page(request.huge_page_kib);
  return vm;
}

/// How little a VM that is to start together wants to be on the node, by its strategy.
std::int64_t reluctance(const placement::Arrangement& now, NodeIndex node,
                        const placement::VmDescription& vm) {
  using placement::PlacementStrategy;
  constexpr std::int64_t kLacksCpus = 1'000'000;
  const PlacementStrategy strategy = vm.policy.strategy;
  const std::int64_t load = now.node(node).demand().value * 1000 /
                            std::max<std::int64_t>(now.node(node).capacity().value, 1);
  if (strategy == PlacementStrategy::kHost || strategy == PlacementStrategy::kLeastLostTime) {
    return load;
  }
  const std::int64_t cpus = now.snapshot().topology.nodes[node].cpu_count();
  const std::int64_t allocated = allocated_cpus(now, node, placement::kNoClient);
  if (allocated + static_cast<std::int64_t>(vm.vcpus.size()) > cpus) {
    return kLacksCpus + load;
  }
  const std::int64_t share = permille_of(allocated, cpus, Permille{1000}).value;
  return strategy == PlacementStrategy::kMostAllocated ? 1000 - share : share;
}

/// Cores that nobody else could use, as a resource. Nodes are taken to be alike.
placement::NodeResource own_cores(const placement::Arrangement& now,
                                  const placement::VmDescription& vm, NodeIndex example) {
  const placement::Topology& topology = now.snapshot().topology;
  placement::NodeResource cores{
      "cores of its own",
      cores_for(vm.policy.cpu_policy, static_cast<std::int32_t>(vm.vcpus.size()),
                topology.nodes[example]),
      {},
      {}};
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    cores.available.push_back(free_cores(now, node, placement::kNoClient));
    cores.capacity.push_back(topology.nodes[node].core_count() - placement::kCoresForOthers);
  }
  return cores;
}

/// Of what it was promised on a node, what it does not have there yet. Before a VM has appeared it
/// has nothing.
Bytes still_promised(const PromisedMemory& promised, const Snapshot& snapshot,
                     const StartingVm& starting) {
  const auto node = snapshot.topology.index_of(promised.node);
  Bytes has;
  for (const ClientState& client : snapshot.clients) {
    const bool is_its = starting.appeared && client.id.vm == starting.description.id;
    has += node && is_its && client.memory_known ? client.memory[*node] : Bytes{};
  }
  return std::max(promised.memory - has, Bytes{});
}

LogLine about(const placement::VmDescription& vm, Severity severity, std::string_view what,
              std::string_view why) {
  return {severity, fmt::format("VM '{}' {}: {}", vm.name, what, why), {{"VM", vm.name}}};
}

/// Clients that are not placed yet count where they will be.
void place_at(Snapshot& snapshot, const VmState& vm, const std::vector<NodeIndex>& homes) {
  for (std::size_t i = 0; i < vm.client_count; ++i) {
    ClientState& client = snapshot.clients[vm.first_client + i];
    if (client.home == kNoNode) {
      client.home = homes[std::min(i, homes.size() - 1)];
    }
  }
}

}  // namespace

Result<Answer> Controller::announce(const AnnounceRequest& request, Effects& effects) {
  if (Result<void> size = check_size(request.vcpus, request.memory_mib); !size) {
    return tl::unexpected(std::move(size).error());
  }
  if (Result<void> cells = check_cells(request.cells); !cells) {
    return tl::unexpected(std::move(cells).error());
  }
  const Result<VmId> id = placement::parse_vm_id(request.vm_uuid);
  if (!id) {
    return tl::unexpected(id.error());
  }
  const placement::VmDescription vm = described(request, *id);
  const placement::VmDescription with_policy = with_policies({vm}).front();
  const placement::VmPolicy& policy = with_policy.policy;
  const bool wants_cores = policy.cpu_binding == placement::CpuBinding::kExclusive;
  const bool is_aligned = policy.topology_policy != placement::TopologyPolicy::kNone;
  const bool is_guaranteed = policy.memory_class == placement::MemoryClass::kGuaranteed;
  const bool may_be_refused = must_fit(policy) || wants_cores;
  if (snapshot_.epoch == 0 && may_be_refused && refuses_starts()) {
    return failure(ErrorCode::kBusy, "nothing has been measured yet, ask again after an epoch");
  }
  if (snapshot_.epoch == 0 || (!is_aligned && !wants_cores && !is_guaranteed)) {
    if (request.asks) {
      (void)starting_.announce(vm, /*asks=*/true, snapshot_.epoch);  // nothing else to say yet
    }
    return Answer(DoneView{fmt::format("VM '{}' is expected", vm.name), {}});
  }
  starting_.withdraw(vm.id);
  Snapshot snapshot = with_starting_vms();
  placement::VmDescription narrowed = with_policy;
  placement::VmAdmission admission;
  if (is_aligned) {
    admission = admit(with_policy, snapshot, request);
  }
  std::optional<std::string> why = std::move(admission.refused);
  if (!why && is_aligned) {
    narrowed.policy.nodes = ids_of(admission.nodes, snapshot.topology);
  }
  if (!why && wants_cores) {
    why = why_no_cores(narrowed, snapshot);
  }
  if (why) {
    note_not_admitted(vm, *why, effects);
    if (refuses_starts()) {
      return failure(ErrorCode::kNoSpace, *why);
    }
    narrowed.policy.nodes = with_policy.policy.nodes;
  } else {
    std::erase_if(not_admitted_, [&](const NotAdmittedView& past) {
      return past.vm_uuid == placement::to_text(vm.id);
    });
  }
  if (admission.unmet) {
    effects.log.push_back(about(vm, Severity::kInfo, "starts apart", *admission.unmet));
  }
  StartingVm& starting = starting_.announce(vm, request.asks, snapshot_.epoch);
  for (const placement::MemoryOnNode& memory : admission.memory) {
    starting.memory.push_back(
        {snapshot.topology.nodes[memory.node].id, memory.page_size, memory.memory});
  }
  find_start(starting, std::move(narrowed), std::move(snapshot));
  if (is_guaranteed && !is_aligned) {
    const std::vector<NodeIndex> homes = indices_of(starting.homes, ledger_.topology());
    if (const auto unkept = why_not_guaranteed(with_policy, homes)) {
      effects.log.push_back(
          about(vm, Severity::kNotice, "starts without what it is to be guaranteed", *unkept));
    }
  }
  const std::string nodes = placement::to_list(starting.nodes);
  return Answer(DoneView{
      why ? fmt::format("VM '{}' may start, on nodes {}, although {}", vm.name, nodes, *why)
          : fmt::format("VM '{}' is admitted on nodes {}", vm.name, nodes),
      {}});
}

bool Controller::refuses_starts() const {
  return setup_.mode == Mode::kActive && setup_.admission == AdmissionMode::kEnforce;
}

/// Says, for whoever looks later, that the VM's policy could not be met.
void Controller::note_not_admitted(const placement::VmDescription& vm, const std::string& why,
                                   Effects& effects) {
  const bool refused = refuses_starts();
  const std::string because = setup_.mode == Mode::kActive
                                  ? std::string("admission is 'advise'")
                                  : fmt::format("the mode is {}", name_of(setup_.mode));
  effects.log.push_back(about(
      vm, Severity::kNotice,
      refused ? "is not admitted" : "would not be admitted, it is let start because " + because,
      why));
  const std::string uuid = placement::to_text(vm.id);
  std::erase_if(not_admitted_, [&](const NotAdmittedView& past) { return past.vm_uuid == uuid; });
  if (not_admitted_.size() == kMostNotAdmitted) {
    not_admitted_.erase(not_admitted_.begin());
  }
  not_admitted_.push_back({vm.name, uuid, refused, why, now_unix_s_});
  effects.not_admitted.push_back(
      {next_action_++, snapshot_.epoch, vm.id, vm.name,
       (refused ? "its start was refused: " : "it was let start because " + because + ": ") + why});
}

/// Huge pages of a node that VMs were promised which do not have them yet.
Bytes Controller::promised_on(NodeId node, Bytes page_size, const Snapshot& snapshot) const {
  Bytes promised;
  for (const StartingVm& starting : starting_.all()) {
    for (const PromisedMemory& memory : starting.memory) {
      if (memory.node == node && memory.page_size == page_size) {
        promised += still_promised(memory, snapshot, starting);
      }
    }
  }
  return promised;
}

/// What of the host's memory nobody has, and nobody was promised. Who is to be guaranteed his own
/// gets no more than can be kept for him.
placement::FreeForVm Controller::free_for(const placement::VmDescription& vm,
                                          const Snapshot& snapshot,
                                          const placement::Arrangement& now,
                                          const AnnounceRequest& request) const {
  const bool guaranteed = vm.policy.memory_class == placement::MemoryClass::kGuaranteed;
  placement::FreeForVm free;
  const placement::KeptMemory kept = kept_memory(Bytes{}, vm.id);
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const Bytes room = snapshot.nodes[node].known
                           ? now.room().ordinary(node) - now.untouched().ordinary(node)
                           : Bytes{};
    const Bytes beside = placement::kMiB * setup_.options.mem_qos_overhead;
    free.room.push_back(guaranteed ? std::min(room, kept.most({node}) - beside) : room);
  }
  for (const AnnounceRequest::Pages& one : request.huge_pages) {
    const Bytes size = bytes_of_page(one.page_kib > 0 ? one.page_kib : request.huge_page_kib);
    const auto node = snapshot.topology.index_of(one.node);
    if (size == Bytes{} || !node) {
      continue;
    }
    const Bytes taken =
        promised_on(one.node, size, snapshot) + reserved_of(one.node, size, setup_.reserved_memory);
    std::int64_t pages = one.free - taken.value / size.value;
    if (guaranteed) {
      pages = std::min(pages, kept_memory(size, vm.id).most({*node}).value / size.value);
    }
    free.huge_pages.push_back({one.node, pages, one.total, size});
  }
  return free;
}

placement::VmAdmission Controller::admit(const placement::VmDescription& vm,
                                         const Snapshot& snapshot,
                                         const AnnounceRequest& request) const {
  const placement::Arrangement now(snapshot, setup_.options, placement::Arrangement::Basis::kLoad);
  const auto complete = [&](placement::AdmissionRequest& asked,
                            const placement::VmDescription& part) {
    if (part.policy.cpu_binding == placement::CpuBinding::kExclusive && !asked.allowed.empty()) {
      asked.resources.push_back(own_cores(now, part, asked.allowed.front()));
    }
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      asked.load.push_back(reluctance(now, node, part));
    }
    asked.last = last_placed_on_;
  };
  placement::VmAdmission admission = admit_vm(snapshot.topology, vm, setup_.options.prefer_ht != 0,
                                              free_for(vm, snapshot, now, request), complete);
  // Each of several nodes may have room for a promise that they cannot keep together.
  if (!admission.refused && vm.policy.memory_class == placement::MemoryClass::kGuaranteed) {
    if (auto unkept = why_not_guaranteed(vm, admission.nodes)) {
      (must_fit(vm.policy) ? admission.refused : admission.unmet) = std::move(unkept);
    }
  }
  return admission;
}

/// Its homes, and where libvirt should start it. `snapshot` is the host with all other VMs.
void Controller::find_start(StartingVm& vm, placement::VmDescription description,
                            Snapshot snapshot) {
  NewVm added;
  added.description = std::move(description);
  added.load = ledger_.start_load(added.description.id);
  add_vm(snapshot, added, setup_.options);
  share_out(snapshot, setup_.options);
  const std::vector<NewHome> homes =
      place_vm(snapshot, added.description.id, setup_.options, last_placed_on_);
  vm.homes.clear();
  for (const NewHome& home : homes) {
    if (home.home != kNoNode) {
      vm.homes.push_back(snapshot.topology.nodes[home.home].id);
    }
  }
  vm.nodes = ids_of(start_nodes(snapshot, added.description, homes), snapshot.topology);
}

Result<Answer> Controller::withdraw(const WithdrawRequest& request) {
  const Result<VmId> id = placement::parse_vm_id(request.vm_uuid);
  if (!id) {
    return tl::unexpected(id.error());
  }
  starting_.withdraw(*id);
  return Answer(DoneView{fmt::format("VM '{}' is not expected", request.vm_uuid), {}});
}

Result<Answer> Controller::suggest(const SuggestRequest& request, Effects& effects) {
  if (Result<void> size = check_size(request.vcpus, request.memory_mib); !size) {
    return tl::unexpected(std::move(size).error());
  }
  if (snapshot_.epoch == 0) {
    return failure(ErrorCode::kBusy, "nothing has been measured yet, ask again after an epoch");
  }
  Snapshot snapshot = with_starting_vms();
  StartingVm& vm =
      starting_.asking(request.vcpus, placement::kMiB * request.memory_mib, snapshot_.epoch);
  if (vm.homes.empty()) {  // else it was admitted there
    find_start(vm, with_policies({vm.description}).front(), std::move(snapshot));
  }
  const std::string name =
      vm.description.name.empty()
          ? fmt::format("a VM of {} vCPUs and {} MiB", request.vcpus, request.memory_mib)
          : fmt::format("VM '{}'", vm.description.name);
  if (vm.homes.empty()) {
    return failure(ErrorCode::kUnsupported, fmt::format("no node can be the home of {}", name));
  }
  effects.log.push_back({Severity::kInfo,
                         fmt::format("{} asked where to start: on node{} {}", name,
                                     vm.nodes.size() == 1 ? "" : "s", placement::to_list(vm.nodes)),
                         {{"VM", vm.description.name}}});
  SuggestView view;
  view.vm = vm.description.name;
  view.vm_uuid = view.vm.empty() ? "" : placement::to_text(vm.description.id);
  view.nodes = vm.nodes;
  return Answer(std::move(view));
}

/// The last epoch with the VMs that have been told where to start since.
Snapshot Controller::with_starting_vms() const {
  Snapshot snapshot = since_the_plan();
  for (const StartingVm& starting : starting_.all()) {
    const std::vector<NodeIndex> homes = indices_of(starting.homes, snapshot.topology);
    if (homes.empty()) {
      continue;
    }
    const VmId& id = starting.description.id;
    const auto running = std::find_if(snapshot.vms.begin(), snapshot.vms.end(),
                                      [&](const VmState& vm) { return vm.id == id; });
    if (running != snapshot.vms.end()) {
      place_at(snapshot, *running, homes);
      continue;
    }
    NewVm added;
    added.description = starting.description;
    const placement::VmPolicy policy = with_policies({starting.description}).front().policy;
    added.description.policy.cpu_binding = policy.cpu_binding;
    added.description.policy.cpu_policy = policy.cpu_policy;
    added.description.policy.memory_class = policy.memory_class;
    added.load = ledger_.start_load(id);
    add_vm(snapshot, added, setup_.options);
    settle_vm(snapshot, id, homes);
  }
  return snapshot;
}

/// VMs that live somewhere count by themselves from now on.
void Controller::forget_started() {
  std::vector<VmId> placed;
  for (const StartingVm& starting : starting_.all()) {
    const VmRecord* vm = ledger_.find(starting.description.id);
    if (starting.appeared && vm != nullptr &&
        std::all_of(vm->clients.begin(), vm->clients.end(),
                    [](const ClientRecord& client) { return client.home.value >= 0; })) {
      placed.push_back(starting.description.id);
    }
  }
  for (const VmId& vm : placed) {
    starting_.withdraw(vm);
  }
  starting_.forget_older(snapshot_.epoch);
}

}  // namespace vmnuma::balancer
