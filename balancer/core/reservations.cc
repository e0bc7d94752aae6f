// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/reservations.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace vmnuma::balancer {

namespace {

/// Keeps more of a node's memory, or less if the amount is negative.
void keep(NodeState& node, Bytes page_size, Bytes memory) {
  if (page_size == Bytes{}) {
    node.reserve += memory;
  }
  const auto place =
      std::ranges::lower_bound(node.reservations, page_size, {}, &PagesOfSize::page_size);
  if (place == node.reservations.end() || place->page_size != page_size) {
    node.reservations.insert(place, {page_size, memory});
  } else {
    place->memory += memory;
  }
}

bool contains(const std::vector<VmId>& vms, const VmId& vm) {
  return std::ranges::find(vms, vm) != vms.end();
}

/// Adds the nodes on which something of the reservation is left, each node once.
void add_nodes(std::vector<NodeId>& nodes, const Reservation& reservation) {
  for (const MemoryOnNode& part : reservation.memory) {
    if (std::ranges::find(nodes, part.node) == nodes.end()) {
      nodes.push_back(part.node);
    }
  }
}

/// Adds `more` to the part of that node and page size, or as a new part in order.
void add_part(std::vector<MemoryOnNode>& parts, const MemoryOnNode& more) {
  const auto place = std::lower_bound(
      parts.begin(), parts.end(), more, [](const MemoryOnNode& a, const MemoryOnNode& b) {
        return std::tie(a.node, a.page_size) < std::tie(b.node, b.page_size);
      });
  if (place != parts.end() && place->node == more.node && place->page_size == more.page_size) {
    place->memory += more.memory;
  } else {
    parts.insert(place, more);
  }
}

/// Takes memory of that page size, only from `node` if it is given.
std::vector<MemoryOnNode> take(Reservation& reservation, Bytes page_size, Bytes wanted,
                               std::optional<NodeId> node) {
  std::vector<MemoryOnNode> taken;
  for (MemoryOnNode& part : reservation.memory) {
    const Bytes here = std::min(part.memory, wanted);
    if (here > Bytes{} && part.page_size == page_size && part.node == node.value_or(part.node)) {
      part.memory -= here;
      wanted -= here;
      taken.push_back({part.node, part.page_size, here});
    }
  }
  std::erase_if(reservation.memory,
                [](const MemoryOnNode& part) { return part.memory <= Bytes{}; });
  return taken;
}

/// Takes what the VM still wants, first an even share on each of the nodes.
std::vector<MemoryOnNode> take(Reservation& reservation, std::vector<PagesOfSize>& wanted,
                               const std::vector<NodeId>& nodes) {
  std::vector<MemoryOnNode> taken;
  for (PagesOfSize& pages : wanted) {
    const Bytes page = std::max(pages.page_size, kKiB);
    const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(nodes.size(), 1));
    const Bytes share = page * divided_up(pages.memory.value / page.value, parts);
    const auto take_here = [&](Bytes at_most, std::optional<NodeId> node) {
      for (const MemoryOnNode& part :
           take(reservation, pages.page_size, std::min(at_most, pages.memory), node)) {
        pages.memory -= part.memory;
        add_part(taken, part);
      }
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
  const VmPolicy& policy = description.policy;
  return is_for_by_name(description) || is_owned_by(description, owner) ||
         (!group.empty() &&
          (policy.affinity_group == group || policy.anti_affinity_group == group));
}

Bytes Reservation::memory_left() const {
  return sum_of(memory, &MemoryOnNode::memory);
}

const Reservation* Reservations::find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Reservation::name);
  return found == all_.end() ? nullptr : &*found;
}

void Reservations::remove(std::string_view name) {
  std::erase_if(all_, [name](const Reservation& entry) { return entry.name == name; });
}

bool Reservations::clock_set(std::int64_t by_s) {
  bool some_move = false;
  for (Reservation& reservation : all_) {
    if (reservation.lasting && reservation.until_unix_s) {
      *reservation.until_unix_s += by_s;
      some_move = true;
    }
  }
  return some_move;
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
  for (const bool by_name : {true, false}) {  // what no other VM can take comes first
    for (Reservation& reservation : all_) {
      if (!reservation.is_for(vm) || reservation.is_for_by_name(vm) != by_name ||
          contains(reservation.served, vm.id)) {
        continue;
      }
      reservation.served.push_back(vm.id);
      std::vector<NodeId> where;
      add_nodes(where, reservation);
      std::vector<MemoryOnNode> memory = take(reservation, wanted, nodes);
      const Bytes sum = sum_of(memory, &MemoryOnNode::memory);
      const std::int32_t vcpus =
          std::min(reservation.vcpus, static_cast<std::int32_t>(vm.vcpus.size()));
      reservation.vcpus -= vcpus;
      if (reservation.shared) {
        reservation.taken.push_back({vm.id, vm.name, vcpus, std::move(memory)});
      } else if (by_name) {
        reservation.memory.clear();
      }
      if (reservation.is_used_up() || sum > Bytes{}) {
        taken.push_back({reservation.name, sum, reservation.is_used_up(), std::move(where)});
      }
    }
  }
  std::erase_if(all_, [](const Reservation& reservation) { return reservation.is_used_up(); });
  return taken;
}

std::optional<std::vector<CameBack>> Reservations::forget_stopped(
    const std::function<bool(const VmId&)>& runs) {
  std::vector<CameBack> back;
  bool some_have = false;
  for (Reservation& reservation : all_) {
    for (const SharedPart& part : reservation.taken) {
      if (!runs(part.vm)) {
        reservation.vcpus += part.vcpus;
        for (const MemoryOnNode& memory : part.memory) {
          add_part(reservation.memory, memory);
        }
        back.push_back(
            {reservation.name, part.vm, part.name, sum_of(part.memory, &MemoryOnNode::memory)});
      }
    }
    std::erase_if(reservation.taken, [&](const SharedPart& part) { return !runs(part.vm); });
    some_have = std::erase_if(reservation.served, [&](const VmId& vm) { return !runs(vm); }) > 0 ||
                some_have;
  }
  return some_have ? std::optional(std::move(back)) : std::nullopt;
}

std::vector<NodeId> Reservations::open_for(const VmDescription& vm) {
  std::vector<NodeId> nodes;
  std::erase_if(all_, [&](const Reservation& reservation) {
    const bool is_its = reservation.is_for(vm) && !contains(reservation.served, vm.id);
    if (is_its) {
      add_nodes(nodes, reservation);
    }
    return is_its;
  });
  return nodes;
}

void Reservations::keep_in(Snapshot& snapshot) const {
  for (NodeState& node : snapshot.nodes) {
    node.reserve -= reservations_of(node, Bytes{});
    node.reservations.clear();
  }
  for (const Reservation& reservation : all_) {
    for (const MemoryOnNode& part : reservation.memory) {
      const auto node = snapshot.topology.index_of(part.node);
      if (node && *node < snapshot.nodes.size()) {
        keep(snapshot.nodes[*node], part.page_size, part.memory);
      }
    }
  }
}

}  // namespace vmnuma::balancer
