// SPDX-License-Identifier: Apache-2.0
// The controller's account of memory that is guaranteed to VMs, per node and page size, and of what
// must be known about starts while the daemon is away.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/node_lists.h"
#include "placement/exclusive_cores.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::ClientState;
using placement::KeptMemory;
using placement::kMiB;
using placement::MemoryClass;
using placement::NodeIndex;
using placement::Snapshot;
using placement::VmDescription;
using placement::VmId;

namespace {

/// How often what is promised is looked at for those who judge without the daemon, in epochs.
constexpr std::int64_t kLookAgainAfter = 5;
/// Promises are told in such steps, so that a guest that touches its memory is not news.
constexpr Bytes kStep = kMiB * 64;

Bytes in_steps(Bytes amount) {
  return kStep * ((std::max(amount, Bytes{}).value + kStep.value - 1) / kStep.value);
}

/// What the VM needs of pages of that size; of ordinary ones also what QEMU takes beside the guest.
Bytes need_of(const VmDescription& vm, Bytes page_size, const placement::Options& options) {
  Bytes need = page_size == Bytes{} ? kMiB * options.mem_qos_overhead : Bytes{};
  for (const placement::PagesOfSize& pages : memory_by_page_size(vm)) {
    need += pages.page_size == page_size ? pages.memory : Bytes{};
  }
  return need;
}

/// The client's part of the VM's memory by the size of its pages. Which client has which pages of
/// a VM with several sizes is not looked at: each has as large a part of all, in whole pages.
std::vector<placement::PagesOfSize> by_page_size(const ClientState& client,
                                                 std::vector<placement::PagesOfSize> of_vm) {
  Bytes all;
  for (const placement::PagesOfSize& pages : of_vm) {
    all += pages.memory;
  }
  for (placement::PagesOfSize& pages : of_vm) {
    pages.memory = placement::scaled(client.memory_size, pages.memory.value, all.value);
    if (pages.page_size > Bytes{}) {
      pages.memory = pages.page_size *
                     ((pages.memory.value + pages.page_size.value - 1) / pages.page_size.value);
    }
  }
  return of_vm;
}

std::string pages_text(Bytes page_size) {
  return page_size == Bytes{} ? std::string("memory")
                              : fmt::format("huge pages of {} KiB", page_size.value / 1024);
}

}  // namespace

/// What VMs were promised on each node, whoever is about to start included, and the pools.
void Controller::show_promises(HostView& view) const {
  std::map<VmId, std::vector<placement::PagesOfSize>> pages;
  for (const StartingVm& starting : starting_.all()) {
    pages[starting.description.id] = memory_by_page_size(starting.description);
  }
  for (const auto& [id, vm] : ledger_.vms()) {
    pages[id] = memory_by_page_size(vm.description);
  }
  const Snapshot snapshot = snapshot_.epoch > 0 ? with_starting_vms() : snapshot_;
  std::vector<std::map<Bytes, Bytes>> promised(view.nodes.size());
  for (const ClientState& client : snapshot.clients) {
    if (client.home < view.nodes.size()) {  // else it has none
      view.nodes[client.home].promised_vcpus += client.vcpu_count();
      for (const auto& [size, memory] : by_page_size(client, pages[snapshot.vms[client.vm].id])) {
        promised[client.home][size] += memory;
      }
    }
  }
  for (NodeIndex i = 0; i < view.nodes.size(); ++i) {
    NodeView& node = view.nodes[i];
    node.promised_bytes = promised[i][Bytes{}].value;
    for (const placement::HugePagePool& pool : snapshot.topology.nodes[i].huge_pages) {
      node.huge_pages.push_back(
          {pool.page_size.value, (pool.page_size * pool.pages).value,
           reserved_of(node.node, pool.page_size, setup_.reserved_memory).value,
           promised[i][pool.page_size].value});
    }
  }
}

/// Per node, what may be promised there: all but what the system keeps.
std::vector<Bytes> Controller::capacity_to_promise(Bytes page_size) const {
  std::vector<Bytes> capacity;
  for (const placement::Node& node : ledger_.topology().nodes) {
    Bytes pools;
    Bytes pool;
    for (const placement::HugePagePool& one : node.huge_pages) {
      pools += one.page_size * one.pages;
      pool += one.page_size == page_size ? one.page_size * one.pages : Bytes{};
    }
    capacity.push_back(
        page_size == Bytes{}
            ? node.memory - pools -
                  reserve_of(node.id, node.memory, setup_.options, setup_.reserved_memory)
            : pool - reserved_of(node.id, page_size, setup_.reserved_memory));
  }
  return capacity;
}

/// The nodes on which so much is promised to a VM that lives on `homes`: these, and where they are
/// too small as a whole also the nearest others.
std::vector<NodeIndex> Controller::group_of(const std::vector<NodeIndex>& homes, Bytes page_size,
                                            Bytes memory) const {
  const std::vector<Bytes> capacity = capacity_to_promise(page_size);
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = 0; node < capacity.size(); ++node) {
    nodes.push_back(node);
  }
  const auto is_home = [&homes](NodeIndex node) {
    return std::find(homes.begin(), homes.end(), node) != homes.end();
  };
  std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
    const auto distance = [&](NodeIndex node) {
      return is_home(node) || homes.empty() ? 0 : ledger_.topology().distance(homes.front(), node);
    };
    return distance(a) < distance(b);
  });
  std::vector<NodeIndex> group;
  Bytes sum;
  for (const NodeIndex node : nodes) {
    if (!is_home(node) && sum >= memory) {
      break;
    }
    group.push_back(node);
    sum += std::max(capacity[node], Bytes{});
  }
  return group;
}

/// Keeps what is guaranteed to VMs that were told where to start and have no home yet.
void Controller::keep_for_expected(KeptMemory& kept, Bytes page_size, const VmId& except) const {
  for (const StartingVm& starting : starting_.all()) {
    const VmId& id = starting.description.id;
    const VmRecord* running = ledger_.find(id);
    if (id == except || (running != nullptr && !homes_of(*running).empty())) {
      continue;
    }
    const VmDescription vm = with_policies({starting.description}).front();
    const std::vector<NodeIndex> homes = indices_of(starting.homes, ledger_.topology());
    const Bytes need = need_of(vm, page_size, setup_.options);
    if (vm.policy.memory_class == MemoryClass::kGuaranteed && !homes.empty()) {
      (void)kept.keep(group_of(homes, page_size, need), need);  // else it is not guaranteed
    }
  }
}

/// What is guaranteed to all VMs but one that run or were told where to start.
KeptMemory Controller::kept_memory(Bytes page_size, const VmId& except) const {
  KeptMemory kept(capacity_to_promise(page_size));
  for (const auto& [id, vm] : ledger_.vms()) {
    const std::vector<NodeIndex> homes = indices_of(homes_of(vm), ledger_.topology());
    if (id != except && vm.description.policy.memory_class == MemoryClass::kGuaranteed &&
        !homes.empty()) {
      const Bytes need = need_of(vm.description, page_size, setup_.options);
      (void)kept.keep(group_of(homes, page_size, need), need);  // else it is not guaranteed
    }
  }
  keep_for_expected(kept, page_size, except);
  return kept;
}

/// Why the VM cannot be guaranteed its memory on these nodes; nothing if it can.
std::optional<std::string> Controller::why_not_guaranteed(
    const VmDescription& vm, const std::vector<NodeIndex>& nodes) const {
  std::vector<Bytes> sizes{Bytes{}};
  for (const placement::PagesOfSize& pages : memory_by_page_size(vm)) {
    if (pages.page_size > Bytes{}) {
      sizes.push_back(pages.page_size);
    }
  }
  for (const Bytes size : sizes) {
    const Bytes need = need_of(vm, size, setup_.options);
    KeptMemory kept = kept_memory(size, vm.id);
    const std::vector<NodeIndex> group = group_of(nodes, size, need);
    if (kept.keep(group, need)) {
      continue;
    }
    std::vector<placement::NodeId> ids;
    for (const NodeIndex node : group) {
      ids.push_back(ledger_.topology().nodes[node].id);
    }
    std::sort(ids.begin(), ids.end());
    return fmt::format(
        "memory_class is 'guaranteed', but of {} MiB of {} that it needs, nodes {} have {} MiB "
        "left beside what others are guaranteed and what the system keeps",
        need.value / kMiB.value, pages_text(size), placement::to_list(ids),
        kept.most(group).value / kMiB.value);
  }
  return std::nullopt;
}

// ---- for those who judge without the daemon ----

AdmissionState Controller::admission_state() const {
  AdmissionState state;
  state.enforces = refuses_starts();
  const Snapshot snapshot = with_starting_vms();
  const placement::Arrangement now(snapshot, setup_.options, placement::Arrangement::Basis::kLoad);
  for (NodeIndex index = 0; index < snapshot.nodes.size(); ++index) {
    const placement::Node& node = snapshot.topology.nodes[index];
    AdmissionState::Node row;
    row.id = node.id;
    row.cpus = node.cpu_count();
    row.cores = std::max(node.core_count() - placement::kCoresForOthers, 0);
    row.free_cores = std::clamp(free_cores(now, index, placement::kNoClient), 0, row.cores);
    row.reserve = reserve_of(node.id, node.memory, setup_.options, setup_.reserved_memory);
    row.promised = now.untouched().ordinary(index);
    state.nodes.push_back(std::move(row));
  }
  for (const StartingVm& starting : starting_.all()) {
    if (starting.homes.empty()) {
      continue;
    }
    StartingVm told = starting;
    told.description = with_policies({starting.description}).front();
    told.since_epoch = 0;
    told.asks = told.appeared = false;
    state.expected.push_back(std::move(told));
    for (const ClientState& client : snapshot.clients) {
      const bool is_its = client.id.vm == starting.description.id && !starting.appeared &&
                          snapshot.vms[client.vm].huge_page_size == Bytes{};
      for (NodeIndex node = 0; is_its && node < client.memory.size(); ++node) {
        state.nodes[node].promised += client.memory[node];
      }
    }
  }
  for (AdmissionState::Node& row : state.nodes) {
    row.promised = in_steps(row.promised);
    const auto node = snapshot.topology.index_of(row.id);
    for (const placement::HugePagePool& pool : snapshot.topology.nodes[*node].huge_pages) {
      const Bytes promised = promised_on(row.id, pool.page_size, snapshot) +
                             reserved_of(row.id, pool.page_size, setup_.reserved_memory);
      if (promised > Bytes{}) {
        row.pools.push_back({pool.page_size, promised});
      }
    }
  }
  return state;
}

void Controller::keep_admission_state(Effects& effects) {
  const auto is_told = [this](const StartingVm& starting) {
    return starting.homes.empty() ||
           std::any_of(admission_.expected.begin(), admission_.expected.end(),
                       [&](const StartingVm& told) {
                         return told.description.id == starting.description.id &&
                                told.homes == starting.homes;
                       });
  };
  const std::vector<StartingVm>& starting = starting_.all();
  const bool is_due = snapshot_.epoch % kLookAgainAfter == 1 || admission_.nodes.empty() ||
                      admission_.enforces != refuses_starts() ||
                      !std::all_of(starting.begin(), starting.end(), is_told);
  if (snapshot_.epoch == 0 || !is_due) {
    return;
  }
  AdmissionState state = admission_state();
  if (state != admission_) {
    admission_ = state;
    effects.admission = std::move(state);
  }
}

}  // namespace vmnuma::balancer
