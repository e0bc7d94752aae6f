// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/starts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/vm_policies.h"
#include "balancer/core/entitlement.h"
#include "balancer/core/new_vm.h"
#include "balancer/core/what_if.h"
#include "placement/arrangement.h"
#include "placement/exclusive_cores.h"
#include "placement/largest_vm.h"
#include "placement/memory_room.h"
#include "placement/model/text.h"
#include "placement/strategy.h"

namespace vmnuma::balancer {

namespace {

/// On the scale of reluctance(), for a node that has room for this VM alone.
constexpr std::int64_t kMostWanted = -1'000'000'000;
/// How many VMs that were not admitted are remembered.
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
        std::ranges::is_sorted(cell.vcpus) &&
        (cell.vcpus.empty() || (cell.vcpus.front() >= 0 && cell.vcpus.back() < kMostVcpus)) &&
        cell.memory_mib >= 0 && cell.memory_mib <= kMostMemoryMib;
    if (!good) {
      return failure(ErrorCode::kInvalidArgument,
                     "the vCPUs of a guest NUMA cell must be ascending numbers, and its memory "
                     "must be within the limits for a VM");
    }
  }
  return {};
}

/// True if the VM starts only where everything it needs is together.
bool must_fit(const VmPolicy& policy) {
  return policy.topology_policy == TopologyPolicy::kRestricted ||
         policy.topology_policy == TopologyPolicy::kSingleNumaNode;
}

Bytes bytes_of_page(std::int64_t kib) {
  return Bytes{std::clamp<std::int64_t>(kib, 0, kMostPageKib) * 1024};
}

/// The VM, to the extent that the hook describes it.
VmDescription announced_vm(const AnnounceRequest& request, const VmId& id) {
  VmDescription vm;
  vm.id = id;
  vm.name = request.vm;
  set_size(vm, request.vcpus, kMiB * request.memory_mib);
  for (const RequestedSetting& setting : request.policy) {
    vm.own_policy.push_back({setting.key, setting.value.value_or("")});
  }
  vm.pci_devices = request.devices;
  vm.host_interfaces = request.interfaces;
  vm.host_disks = request.disks;
  for (const AnnounceRequest::Cell& cell : request.cells) {
    vm.cells.push_back(
        {static_cast<std::int32_t>(vm.cells.size()), cell.vcpus, kMiB * cell.memory_mib});
    if (cell.huge_page_kib) {
      vm.cells.back().page_size = bytes_of_page(*cell.huge_page_kib);
    }
    if (!cell.numatune.empty()) {
      vm.cells.back().binding = cell.numatune.front();
    }
  }
  if (!request.numatune.empty()) {
    vm.numatune = request.numatune.front().mode;
    vm.numatune_nodes = request.numatune.front().nodes;
  }
  vm.huge_page_size = bytes_of_page(request.huge_page_kib);
  if (!request.nova_project.empty()) {
    vm.nova_project = request.nova_project.front();
  }
  return vm;
}

/// How unsuitable the node is, by strategy, for a VM that should start in one place.
std::int64_t reluctance(const Arrangement& now, NodeIndex node, const VmDescription& vm) {
  constexpr std::int64_t kLacksCpus = 1'000'000;
  const PlacementStrategy strategy = vm.policy.strategy;
  const std::int64_t load = now.node(node).demand().value * 1000 /
                            std::max<std::int64_t>(now.node(node).capacity().value, 1);
  if (strategy == PlacementStrategy::kHost || strategy == PlacementStrategy::kLeastLostTime) {
    return load;
  }
  const std::int64_t cpus = now.snapshot().topology.nodes[node].cpu_count();
  const std::int64_t allocated = allocated_cpus(now, node, kNoClient);
  if (allocated + static_cast<std::int64_t>(vm.vcpus.size()) > cpus) {
    return kLacksCpus + load;
  }
  const std::int64_t share = permille_of(allocated, cpus, Permille{1000}).value;
  return strategy == PlacementStrategy::kMostAllocated ? 1000 - share : share;
}

/// Cores that no other VM could use, as a resource. A core that holds fewer vCPUs than those of
/// another node counts as a part of one.
NodeResource own_cores(const Arrangement& now, const VmDescription& vm) {
  const Topology& topology = now.snapshot().topology;
  const CpuPolicy policy = vm.policy.cpu_policy;
  std::int64_t most = 1;
  for (const Node& node : topology.nodes) {
    most = std::max<std::int64_t>(most, vcpus_per_core(policy, node));
  }
  NodeResource cores{
      "cores of its own", divided_up(static_cast<std::int64_t>(vm.vcpus.size()), most), {}, {}};
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    const std::int64_t held = vcpus_per_core(policy, topology.nodes[node]);
    const std::int64_t all = topology.nodes[node].core_count() - kCoresForOthers;
    cores.available.push_back(free_cores(now, node, kNoClient) * held / most);
    cores.capacity.push_back(all * held / most);
  }
  return cores;
}

/// Why a VM that wants cores of its own cannot have them on this host; nothing if it can.
std::optional<std::string> check_cores(const HostNow& now, const VmDescription& vm,
                                       Snapshot snapshot) {
  add_vm(snapshot, {.description = vm, .load = now.ledger.start_load(vm.id)}, now.settings.options);
  share_out(snapshot, now.settings.options);
  NodeIndex last_placed_on = now.last_placed_on;
  const std::vector<NewHome> homes =
      place_vm(snapshot, vm.id, now.settings.options, last_placed_on);
  const Arrangement arrangement(snapshot, now.settings.options, Arrangement::Basis::kLoad);
  for (const NewHome& home : homes) {
    const ClientIndex index = index_of(snapshot, home.client);
    if (home.home == kNoNode || free_cores(arrangement, home.home, kNoClient) >= 0) {
      continue;
    }
    std::string text = fmt::format(
        "cpu_binding is 'exclusive', but too few whole cores are free: the VM needs {} on one "
        "node. Free were",
        cores_for(vm.policy.cpu_policy, home.vcpus, snapshot.topology.nodes[home.home]));
    const std::vector<NodeIndex>& allowed = snapshot.clients[index].allowed;
    for (const NodeIndex node : allowed) {
      text += fmt::format("{} on node {} {} of {} cores", node == allowed.front() ? "" : ";",
                          snapshot.topology.nodes[node].id.value,
                          std::max(free_cores(arrangement, node, index), 0),
                          snapshot.topology.nodes[node].core_count());
    }
    return text;
  }
  return std::nullopt;
}

/// Finds the VM's homes, and where libvirt should start it. `snapshot` is the host with all other
/// VMs, `reserved` the nodes with room that is reserved for this VM.
void find_start(HostNow& now, StartingVm& vm, const VmDescription& described,
                const std::vector<NodeIndex>& reserved, Snapshot snapshot) {
  add_vm(snapshot,
         {.description = described,
          .load = now.ledger.start_load(described.id),
          .suggested = reserved},
         now.settings.options);
  share_out(snapshot, now.settings.options);
  const std::vector<NewHome> homes =
      place_vm(snapshot, described.id, now.settings.options, now.last_placed_on);
  vm.homes.clear();
  const bool was_judged = !vm.memory.empty();
  for (const NewHome& home : homes) {
    if (home.home == kNoNode) {
      continue;
    }
    const NodeId node = snapshot.topology.nodes[home.home].id;
    vm.homes.push_back(node);
    for (const auto& [size, memory] : memory_by_page_size(described, home.memory)) {
      if (!was_judged && size > Bytes{}) {
        vm.memory.push_back({node, size, memory});
      }
    }
  }
  vm.nodes = snapshot.topology.ids_of(start_nodes(snapshot, described, homes));
}

}  // namespace

Result<void> check_is_measured(const Snapshot& snapshot) {
  if (snapshot.epoch == 0) {
    return failure(ErrorCode::kBusy, "nothing has been measured yet, ask again after an epoch");
  }
  return {};
}

std::vector<NodeIndex> HostNow::open_reservations_for(const VmDescription& vm) {
  const std::vector<NodeId> nodes = reservations.open_for(vm);
  reservations.keep_in(snapshot);
  return snapshot.topology.indices_of(nodes);
}

Result<RoomFound> Starts::room_for(HostNow& now, const VmDescription& vm) const {
  const FreeForVm free = free_for_any(now);
  Snapshot snapshot = with_starting_vms(now);
  const Arrangement arrangement(snapshot, now.settings.options, Arrangement::Basis::kLoad);
  const auto complete = [&](AdmissionRequest& asked, const VmDescription& part) {
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      asked.load.push_back(reluctance(arrangement, node, part));
    }
    asked.last = now.last_placed_on;
  };
  VmAdmission admission =
      admit_vm(snapshot.topology, vm, now.settings.options.prefer_ht != 0, free, complete);
  if (admission.refused) {
    return failure(ErrorCode::kNoSpace,
                   shortage_text(snapshot.topology, request_of(snapshot.topology, vm, free)));
  }
  RoomFound found;
  found.memory = std::move(admission.memory);
  VmDescription narrowed = vm;
  narrowed.policy.nodes = snapshot.topology.ids_of(admission.nodes);
  StartingVm starting;
  find_start(now, starting, narrowed, {}, std::move(snapshot));
  found.homes = std::move(starting.homes);
  return found;
}

Result<AnnouncedView> Starts::announce(HostNow& now, const AnnounceRequest& request,
                                       const MayWait& may_wait, Effects& effects) {
  VMNUMA_RETURN_IF_ERROR(check_size(request.vcpus, request.memory_mib));
  VMNUMA_RETURN_IF_ERROR(check_cells(request.cells));
  VMNUMA_ASSIGN_OR_RETURN(const auto id, parse_vm_id(request.vm_uuid));
  const VmDescription vm = announced_vm(request, id);
  const VmDescription with_policy = with_policies(now.settings, {vm}).front();
  const VmPolicy& policy = with_policy.policy;
  const bool wants_cores = policy.cpu_binding == CpuBinding::kExclusive;
  const bool is_aligned = policy.topology_policy != TopologyPolicy::kNone;
  const bool is_guaranteed = policy.memory_class == MemoryClass::kGuaranteed;
  const bool may_be_refused = must_fit(policy) || wants_cores;
  if (may_be_refused && refuses_starts(now.settings)) {
    VMNUMA_RETURN_IF_ERROR(check_is_measured(now.snapshot));
  }
  if (now.snapshot.epoch == 0 || (!is_aligned && !wants_cores && !is_guaranteed)) {
    if (request.asks) {
      (void)starting_.announce(vm, /*asks=*/true, now.snapshot.epoch);  // no homes to record yet
    }
    return AnnouncedView{fmt::format("VM '{}' is expected", vm.name), {}, {}};
  }
  starting_.withdraw(vm.id);
  remove_vm(now.snapshot, vm.id);  // its previous run
  const std::vector<NodeIndex> reserved = now.open_reservations_for(with_policy);
  Snapshot snapshot = with_starting_vms(now);
  VmDescription narrowed = with_policy;
  VmAdmission admission;
  if (is_aligned) {
    admission = admit(now, with_policy, snapshot, reserved, request);
  }
  if (std::optional<std::string>& lacks = admission.refused ? admission.refused : admission.unmet) {
    if (std::optional<AnnouncedView> waits = may_wait(now, with_policy, *lacks)) {
      return std::move(*waits);
    }
  }
  std::optional<std::string> why = std::move(admission.refused);
  if (!why && is_aligned) {
    narrowed.policy.nodes = snapshot.topology.ids_of(admission.nodes);
  }
  if (!why && wants_cores) {
    why = check_cores(now, narrowed, snapshot);
  }
  if (why) {
    record_not_admitted(now, vm, *why, effects);
    if (refuses_starts(now.settings)) {
      return failure(ErrorCode::kNoSpace, *why);
    }
    narrowed.policy.nodes = with_policy.policy.nodes;
  } else {
    std::erase_if(not_admitted_,
                  [&](const NotAdmittedView& past) { return past.vm_uuid == to_text(vm.id); });
  }
  if (admission.unmet) {
    effects.say_of_vm(vm.name, Severity::kInfo,
                      fmt::format("VM '{}' starts although its policy cannot be met: {}", vm.name,
                                  *admission.unmet));
  }
  StartingVm& starting = starting_.announce(vm, request.asks, now.snapshot.epoch);
  starting.memory = std::move(admission.memory);
  find_start(now, starting, narrowed, reserved, std::move(snapshot));
  if (is_guaranteed && !is_aligned) {
    const std::vector<NodeIndex> homes = now.ledger.topology().indices_of(starting.homes);
    if (const auto unkept = guarantees(now).refusal(with_policy, homes)) {
      effects.say_of_vm(
          vm.name, Severity::kNotice,
          fmt::format("VM '{}' starts without the memory that it should be guaranteed: {}", vm.name,
                      *unkept));
    }
  }
  const std::string nodes = to_list(starting.nodes);
  return AnnouncedView{
      why ? fmt::format("VM '{}' may start on nodes {}, although {}", vm.name, nodes, *why)
          : fmt::format("VM '{}' is admitted on nodes {}", vm.name, nodes),
      {},
      {}};
}

bool refuses_starts(const Settings& settings) {
  return settings.mode == Mode::kActive && settings.admission == AdmissionMode::kEnforce;
}

/// Records that the VM's policy could not be met.
void Starts::record_not_admitted(const HostNow& now, const VmDescription& vm,
                                 const std::string& why, Effects& effects) {
  const bool refused = refuses_starts(now.settings);
  const std::string because = now.settings.mode == Mode::kActive
                                  ? std::string("admission is 'advise'")
                                  : fmt::format("the mode is {}", name_of(now.settings.mode));
  effects.say_of_vm(vm.name, Severity::kNotice,
                    fmt::format("VM '{}' {}: {}", vm.name,
                                refused ? "is not admitted"
                                        : "would not be admitted, but may start because " + because,
                                why));
  const std::string uuid = to_text(vm.id);
  std::erase_if(not_admitted_, [&](const NotAdmittedView& past) { return past.vm_uuid == uuid; });
  if (not_admitted_.size() == kMostNotAdmitted) {
    not_admitted_.erase(not_admitted_.begin());
  }
  not_admitted_.push_back({vm.name, uuid, refused, why, now.wall_unix_s});
  effects.not_admitted.push_back(
      {0, now.snapshot.epoch, vm.id, vm.name,
       (refused ? "its start was refused: " : "it was let start because " + because + ": ") + why});
}

/// Memory of the host that no VM has or was promised. A VM whose memory must be guaranteed gets no
/// more than can be kept for it.
FreeForVm Starts::free_for(const HostNow& now, const VmDescription& vm,
                           const Arrangement& arrangement, const AnnounceRequest& request) const {
  const Snapshot& snapshot = arrangement.snapshot();
  const bool guaranteed = vm.policy.memory_class == MemoryClass::kGuaranteed;
  FreeForVm free;
  const KeptMemory kept = guarantees(now).kept(Bytes{}, vm.id);
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const Bytes room = room_for_starts(arrangement, node);
    const Bytes beside = kMiB * now.settings.options.mem_qos_overhead;
    free.room.push_back(guaranteed ? std::min(room, kept.most({node}) - beside) : room);
    free.capacity.push_back(ordinary_for_vms(snapshot, node));
  }
  for (const AnnounceRequest::Pages& one : request.huge_pages) {
    const Bytes size = bytes_of_page(one.page_kib > 0 ? one.page_kib : request.huge_page_kib);
    const auto node = snapshot.topology.index_of(one.node);
    if (size == Bytes{} || !node) {
      continue;
    }
    const Bytes taken = promised_on(one.node, size, snapshot) +
                        reserved_of(one.node, size, now.settings.reserved_memory) +
                        reservations_of(snapshot.nodes[*node], size);
    std::int64_t pages = one.free - taken.value / size.value;
    if (guaranteed) {
      pages = std::min(pages, guarantees(now).kept(size, vm.id).most({*node}).value / size.value);
    }
    free.huge_pages.push_back({one.node, pages, one.total, size});
  }
  return free;
}

VmAdmission Starts::admit(const HostNow& now, const VmDescription& vm, const Snapshot& snapshot,
                          const std::vector<NodeIndex>& reserved,
                          const AnnounceRequest& request) const {
  const Arrangement arrangement(snapshot, now.settings.options, Arrangement::Basis::kLoad);
  const auto complete = [&](AdmissionRequest& asked, const VmDescription& part) {
    if (part.policy.cpu_binding == CpuBinding::kExclusive && !asked.allowed.empty()) {
      asked.resources.push_back(own_cores(arrangement, part));
    }
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      const bool is_reserved = std::ranges::find(reserved, node) != reserved.end();
      asked.load.push_back(is_reserved ? kMostWanted : reluctance(arrangement, node, part));
    }
    asked.last = now.last_placed_on;
  };
  VmAdmission admission = admit_vm(snapshot.topology, vm, now.settings.options.prefer_ht != 0,
                                   free_for(now, vm, arrangement, request), complete);
  // Several nodes may each have room for a promise that they cannot keep jointly.
  if (!admission.refused && vm.policy.memory_class == MemoryClass::kGuaranteed) {
    if (auto unkept = guarantees(now).refusal(vm, admission.nodes)) {
      (must_fit(vm.policy) ? admission.refused : admission.unmet) = std::move(unkept);
    }
  }
  return admission;
}

Result<DoneView> Starts::withdraw(const WithdrawRequest& request) {
  VMNUMA_ASSIGN_OR_RETURN(const auto id, parse_vm_id(request.vm_uuid));
  starting_.withdraw(id);
  return DoneView{fmt::format("VM '{}' is not expected", request.vm_uuid), {}};
}

Result<SuggestView> Starts::suggest(HostNow& now, const SuggestRequest& request, Effects& effects) {
  VMNUMA_RETURN_IF_ERROR(check_size(request.vcpus, request.memory_mib));
  VMNUMA_RETURN_IF_ERROR(check_is_measured(now.snapshot));
  StartingVm& vm = starting_.asking(request.vcpus, kMiB * request.memory_mib, now.snapshot.epoch);
  if (vm.homes.empty()) {  // otherwise it was admitted there
    const VmDescription with_policy = with_policies(now.settings, {vm.description}).front();
    remove_vm(now.snapshot, with_policy.id);  // its previous run
    const std::vector<NodeIndex> reserved = now.open_reservations_for(with_policy);
    find_start(now, vm, with_policy, reserved, with_starting_vms(now));
  }
  const std::string name =
      vm.description.name.empty()
          ? fmt::format("a VM of {} vCPUs and {} MiB", request.vcpus, request.memory_mib)
          : fmt::format("VM '{}'", vm.description.name);
  if (vm.homes.empty()) {
    return failure(ErrorCode::kUnsupported, fmt::format("no node can be the home of {}", name));
  }
  effects.say_of_vm(
      vm.description.name, Severity::kInfo,
      fmt::format("{} asked where to start; the answer is {}", name, node_or_nodes(vm.nodes)));
  SuggestView view;
  view.vm = vm.description.name;
  view.vm_uuid = view.vm.empty() ? "" : to_text(vm.description.id);
  view.nodes = vm.nodes;
  return view;
}

}  // namespace vmnuma::balancer
