// SPDX-License-Identifier: Apache-2.0
// The part of starts.h about promises to VMs that were told where to start: how they count, and how
// they are displayed and exported.
#include <algorithm>
#include <map>
#include <utility>

#include "balancer/controller/starts.h"
#include "balancer/controller/vm_policies.h"
#include "balancer/core/new_vm.h"
#include "balancer/core/what_if.h"
#include "placement/exclusive_cores.h"

namespace vmnuma::balancer {

namespace {

/// How often, in epochs, promises are checked for changes to be exported for decisions without the
/// daemon.
constexpr std::int64_t kLookAgainAfter = 5;
/// Exported promises are rounded to this, so that a guest touching its memory causes no update.
constexpr Bytes kStep = kMiB * 64;

Bytes in_steps(Bytes amount) {
  return kStep * divided_up(std::max(amount, Bytes{}).value, kStep.value);
}

/// The part of a promise on a node that the VM does not have there yet. A VM that has not appeared
/// yet has nothing.
Bytes still_promised(const MemoryOnNode& promised, const Snapshot& snapshot,
                     const StartingVm& starting) {
  const auto node = snapshot.topology.index_of(promised.node);
  Bytes has;
  for (const ClientState& client : snapshot.clients) {
    const bool is_its = starting.appeared && client.id.vm == starting.description.id;
    has += node && is_its && client.memory_known ? client.memory[*node] : Bytes{};
  }
  return std::max(promised.memory - has, Bytes{});
}

/// Counts clients that are not placed yet on their future nodes.
void place_at(Snapshot& snapshot, const VmState& vm, const std::vector<NodeIndex>& homes) {
  for (std::size_t i = 0; i < vm.client_count; ++i) {
    ClientState& client = snapshot.clients[vm.first_client + i];
    if (client.home == kNoNode) {
      client.home = homes[std::min(i, homes.size() - 1)];
    }
  }
}

/// The reserved memory; zero before the first epoch.
Bytes reserved_by(const Snapshot& snapshot, NodeIndex node, Bytes page_size) {
  return node < snapshot.nodes.size() ? reservations_of(snapshot.nodes[node], page_size) : Bytes{};
}

/// An id that no UUID generator produces and no VM that is about to start has.
VmId id_of_reservation(std::uint8_t number) {
  VmId id;
  id.uuid.fill(0xfe);
  id.uuid.back() = number;
  return id;
}

}  // namespace

/// Huge pages of a node that were promised to VMs that do not have them yet.
Bytes Starts::promised_on(NodeId node, Bytes page_size, const Snapshot& snapshot) const {
  Bytes promised;
  for (const StartingVm& starting : starting_.all()) {
    for (const MemoryOnNode& memory : starting.memory) {
      if (memory.node == node && memory.page_size == page_size) {
        promised += still_promised(memory, snapshot, starting);
      }
    }
  }
  return promised;
}

/// The last epoch, with the VMs that have been told where to start since, and those that room is
/// reserved for.
Snapshot Starts::with_starting_vms(const HostNow& now) const {
  Snapshot snapshot = now.snapshot;
  for (const StartingVm& starting : starting_.all()) {
    const std::vector<NodeIndex> homes = snapshot.topology.indices_of(starting.homes);
    if (homes.empty()) {
      continue;
    }
    const VmId& id = starting.description.id;
    const VmState* running = find_vm(snapshot, id);
    if (running != nullptr && starting.appeared) {
      place_at(snapshot, *running, homes);
      continue;
    }
    remove_vm(snapshot, id);  // its previous run
    add_vm(snapshot,
           {.description = with_policies(now.settings, {starting.description}).front(),
            .load = now.ledger.start_load(id)},
           now.settings.options);
    settle_vm(snapshot, id, homes);
  }
  // The snapshot accounts for the memory of reservations, so as VMs they only have vCPUs.
  std::uint8_t number = 0;
  for (const Reservation& reservation : now.reservations.all()) {
    const std::vector<NodeIndex> homes = snapshot.topology.indices_of(reservation.homes);
    if (homes.empty() || reservation.vcpus == 0) {
      continue;
    }
    NewVm added;
    added.description.id = id_of_reservation(number++);
    set_size(added.description, reservation.vcpus, Bytes{});
    added.load = now.ledger.start_load(added.description.id);
    add_vm(snapshot, added, now.settings.options);
    settle_vm(snapshot, added.description.id, homes);
  }
  return snapshot;
}

/// VMs that have a home count without this from now on.
void Starts::forget_started(const Ledger& ledger, std::int64_t epoch) {
  std::vector<VmId> placed;
  for (const StartingVm& starting : starting_.all()) {
    const VmRecord* vm = ledger.find(starting.description.id);
    if (starting.appeared && vm != nullptr &&
        std::ranges::all_of(vm->clients,
                            [](const ClientRecord& client) { return client.home.value >= 0; })) {
      placed.push_back(starting.description.id);
    }
  }
  for (const VmId& vm : placed) {
    starting_.withdraw(vm);
  }
  starting_.forget_older(epoch);
}

// ---- shown and exported ----

std::vector<std::map<Bytes, Bytes>> Starts::promised_at_homes(const HostNow& now,
                                                              const Snapshot& with_starting) const {
  std::map<VmId, const VmDescription*> vms;
  for (const auto& [id, vm] : now.ledger.vms()) {
    vms[id] = &vm.description;
  }
  for (const StartingVm& starting : starting_.all()) {
    vms[starting.description.id] = &starting.description;
  }
  std::vector<std::map<Bytes, Bytes>> promised(with_starting.topology.nodes.size());
  for (const ClientState& client : with_starting.clients) {
    const auto vm = vms.find(with_starting.vms[client.vm].id);
    if (client.home == kNoNode || vm == vms.end()) {  // a reservation, without its VM
      continue;
    }
    for (const auto& [size, memory] : memory_by_page_size(*vm->second, client.memory_size)) {
      promised[client.home][size] += memory;
    }
  }
  return promised;
}

void Starts::show_promises(const HostNow& now, HostView& view) const {
  const Snapshot snapshot = now.snapshot.epoch > 0 ? with_starting_vms(now) : now.snapshot;
  for (const ClientState& client : snapshot.clients) {
    if (client.home < view.nodes.size()) {  // otherwise it has no home
      view.nodes[client.home].promised_vcpus += client.vcpu_count();
    }
  }
  std::vector<std::map<Bytes, Bytes>> promised = promised_at_homes(now, snapshot);
  for (NodeIndex i = 0; i < view.nodes.size(); ++i) {
    NodeView& node = view.nodes[i];
    node.promised_bytes = promised[i][Bytes{}].value;
    for (const HugePagePool& pool : snapshot.topology.nodes[i].huge_pages) {
      node.huge_pages.push_back(
          {pool.page_size.value, (pool.page_size * pool.pages).value,
           (reserved_of(node.node, pool.page_size, now.settings.reserved_memory) +
            reserved_by(snapshot, i, pool.page_size))
               .value,
           promised[i][pool.page_size].value});
    }
  }
}

AdmissionState Starts::admission_state(const HostNow& now) const {
  AdmissionState state;
  state.enforces = refuses_starts(now.settings);
  const Snapshot snapshot = with_starting_vms(now);
  const Arrangement arrangement(snapshot, now.settings.options, Arrangement::Basis::kLoad);
  for (NodeIndex index = 0; index < snapshot.nodes.size(); ++index) {
    const Node& node = snapshot.topology.nodes[index];
    AdmissionState::Node row;
    row.id = node.id;
    row.cpus = node.cpu_count();
    row.cores = std::max(node.core_count() - kCoresForOthers, 0);
    row.free_cores = std::clamp(free_cores(arrangement, index, kNoClient), 0, row.cores);
    row.reserve =
        reserve_of(node.id, node.memory, now.settings.options, now.settings.reserved_memory) +
        reservations_of(snapshot.nodes[index], Bytes{});
    row.promised = arrangement.untouched().ordinary(index);
    state.nodes.push_back(std::move(row));
  }
  for (const StartingVm& starting : starting_.all()) {
    if (starting.homes.empty()) {
      continue;
    }
    StartingVm told = starting;
    told.description = with_policies(now.settings, {starting.description}).front();
    told.since_epoch = 0;
    told.asks = told.appeared = false;
    state.expected.push_back(std::move(told));
    for (const ClientState& client : snapshot.clients) {
      const bool is_its = client.id.vm == starting.description.id && !starting.appeared &&
                          page_size_of(snapshot, client) == Bytes{};
      for (NodeIndex node = 0; is_its && node < client.memory.size(); ++node) {
        state.nodes[node].promised += client.memory[node];
      }
    }
  }
  state.reservations = now.reservations.all();
  for (AdmissionState::Node& row : state.nodes) {
    row.promised = in_steps(row.promised);
    const auto node = snapshot.topology.index_of(row.id);
    for (const HugePagePool& pool : snapshot.topology.nodes[*node].huge_pages) {
      const Bytes promised = promised_on(row.id, pool.page_size, snapshot) +
                             reserved_of(row.id, pool.page_size, now.settings.reserved_memory) +
                             reservations_of(snapshot.nodes[*node], pool.page_size);
      if (promised > Bytes{}) {
        row.pools.push_back({pool.page_size, promised});
      }
    }
  }
  return state;
}

bool Starts::admission_is_due(const Settings& settings, std::int64_t epoch) const {
  const auto is_told = [this](const StartingVm& starting) {
    return starting.homes.empty() ||
           std::ranges::any_of(reported_.expected, [&](const StartingVm& told) {
             return told.description.id == starting.description.id && told.homes == starting.homes;
           });
  };
  const std::vector<StartingVm>& starting = starting_.all();
  return epoch > 0 && (epoch % kLookAgainAfter == 1 || reported_.nodes.empty() ||
                       reported_.enforces != refuses_starts(settings) ||
                       !std::ranges::all_of(starting, is_told));
}

void Starts::report_admission(const HostNow& now, Effects& effects) {
  AdmissionState state = admission_state(now);
  if (state != reported_) {
    reported_ = state;
    effects.admission = std::move(state);
  }
}

}  // namespace vmnuma::balancer
