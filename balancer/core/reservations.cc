// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/reservations.h"

#include <algorithm>
#include <utility>

namespace vmnuma::balancer {

using placement::Bytes;
using placement::NodeId;
using placement::NodeIndex;
using placement::NodeState;
using placement::PagesOfSize;
using placement::VmDescription;
using placement::VmId;

namespace {

/// Keeps more of a node's memory, or with a negative amount less.
void keep(NodeState& node, Bytes page_size, Bytes memory) {
  if (page_size == Bytes{}) {
    node.reserve += memory;
  }
  const auto place =
      std::lower_bound(node.reservations.begin(), node.reservations.end(), page_size,
                       [](const PagesOfSize& pages, Bytes size) { return pages.page_size < size; });
  if (place == node.reservations.end() || place->page_size != page_size) {
    node.reservations.insert(place, {page_size, memory});
  } else {
    place->memory += memory;
  }
}

bool contains(const std::vector<VmId>& vms, const VmId& vm) {
  return std::find(vms.begin(), vms.end(), vm) != vms.end();
}

/// Takes of that page size and, if there is one, that node; returns how much.
Bytes take(Reservation& reservation, Bytes page_size, Bytes wanted,
           std::optional<NodeId> node = std::nullopt) {
  Bytes taken;
  for (PromisedMemory& part : reservation.memory) {
    if (part.page_size == page_size && part.node == node.value_or(part.node)) {
      const Bytes here = std::min(part.memory, wanted - taken);
      part.memory -= here;
      taken += here;
    }
  }
  std::erase_if(reservation.memory,
                [](const PromisedMemory& part) { return part.memory <= Bytes{}; });
  return taken;
}

/// Takes what the VM still wants, an even share on each of the nodes first; returns how much that
/// was.
Bytes take(Reservation& reservation, std::vector<PagesOfSize>& wanted,
           const std::vector<NodeId>& nodes) {
  Bytes taken;
  for (PagesOfSize& pages : wanted) {
    const Bytes page = std::max(pages.page_size, placement::kKiB);
    const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(nodes.size(), 1));
    const Bytes share = page * ((pages.memory.value / page.value + parts - 1) / parts);
    const auto take_here = [&](Bytes at_most, std::optional<NodeId> node) {
      const Bytes here = take(reservation, pages.page_size, std::min(at_most, pages.memory), node);
      pages.memory -= here;
      taken += here;
    };
    for (const NodeId node : nodes) {
      take_here(share, node);
    }
    take_here(pages.memory, std::nullopt);
  }
  return taken;
}

}  // namespace

bool Reservation::is_for_by_name(const VmDescription& description) const {
  return (!vm.empty() && description.name == vm) || vm_id == description.id;
}

bool Reservation::is_for(const VmDescription& description) const {
  const placement::VmPolicy& policy = description.policy;
  return is_for_by_name(description) || (!group.empty() && (policy.affinity_group == group ||
                                                            policy.anti_affinity_group == group));
}

Bytes Reservation::memory_left() const {
  Bytes sum;
  for (const PromisedMemory& part : memory) {
    sum += part.memory;
  }
  return sum;
}

const Reservation* Reservations::find(std::string_view name) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [name](const Reservation& reservation) {
    return reservation.name == name;
  });
  return found == all_.end() ? nullptr : &*found;
}

void Reservations::remove(std::string_view name) {
  std::erase_if(all_, [name](const Reservation& entry) { return entry.name == name; });
}

std::vector<Reservation> Reservations::expire(std::int64_t now_unix_s) {
  const auto end = std::stable_partition(all_.begin(), all_.end(), [&](const Reservation& entry) {
    return !entry.until_unix_s || now_unix_s < *entry.until_unix_s;
  });
  std::vector<Reservation> over(std::make_move_iterator(end), std::make_move_iterator(all_.end()));
  all_.erase(end, all_.end());
  return over;
}

std::vector<TakenUp> Reservations::take_up(const VmDescription& vm,
                                           const std::vector<NodeId>& nodes) {
  std::vector<TakenUp> taken;
  std::vector<PagesOfSize> wanted = memory_by_page_size(vm);
  for (const bool by_name : {true, false}) {  // what nobody else can take comes first
    for (Reservation& reservation : all_) {
      if (!reservation.is_for(vm) || reservation.is_for_by_name(vm) != by_name ||
          contains(reservation.served, vm.id)) {
        continue;
      }
      reservation.served.push_back(vm.id);
      const std::vector<NodeId> homes = reservation.homes;
      const Bytes memory = take(reservation, wanted, nodes);
      reservation.vcpus =
          std::max(reservation.vcpus - static_cast<std::int32_t>(vm.vcpus.size()), 0);
      if (by_name) {
        reservation.memory.clear();
      }
      if (by_name || memory > Bytes{}) {
        taken.push_back({reservation.name, memory, reservation.memory.empty(), homes});
      }
    }
  }
  std::erase_if(all_, [](const Reservation& reservation) { return reservation.memory.empty(); });
  return taken;
}

bool Reservations::forget_stopped(const std::function<bool(const VmId&)>& runs) {
  bool some_have = false;
  for (Reservation& reservation : all_) {
    some_have = std::erase_if(reservation.served, [&](const VmId& vm) { return !runs(vm); }) > 0 ||
                some_have;
  }
  return some_have;
}

std::vector<NodeId> Reservations::open_for(const VmDescription& vm) {
  std::vector<NodeId> nodes;
  std::erase_if(all_, [&](const Reservation& reservation) {
    const bool is_its = reservation.is_for(vm) && !contains(reservation.served, vm.id);
    for (const NodeId node : reservation.homes) {
      if (is_its && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
        nodes.push_back(node);
      }
    }
    return is_its;
  });
  return nodes;
}

void Reservations::keep_in(placement::Snapshot& snapshot) const {
  for (NodeState& node : snapshot.nodes) {
    node.reserve -= reservations_of(node, Bytes{});
    node.reservations.clear();
  }
  for (const Reservation& reservation : all_) {
    for (const PromisedMemory& part : reservation.memory) {
      const auto node = snapshot.topology.index_of(part.node);
      if (node && *node < snapshot.nodes.size()) {
        keep(snapshot.nodes[*node], part.page_size, part.memory);
      }
    }
  }
}

}  // namespace vmnuma::balancer
