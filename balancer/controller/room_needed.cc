// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/room_needed.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/clients.h"
#include "placement/memory_room.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

std::optional<RoomNeeded> room_needed(const Topology& topology, const VmDescription& vm) {
  const std::vector<PagesOfSize> memory = memory_by_page_size(vm);
  if (memory.size() != 1) {
    return std::nullopt;
  }
  const AdmissionRequest request = request_of(topology, vm, {});
  RoomNeeded needed;
  needed.vcpus = static_cast<std::int32_t>(vm.vcpus.size());
  needed.memory = memory.front().memory;
  needed.page_size = memory.front().page_size;
  for (const NodeIndex node : request.allowed) {
    if (std::ranges::all_of(request.devices, [node](NodeIndex device) { return device == node; })) {
      needed.nodes.push_back(topology.nodes[node].id);
    }
  }
  return needed.nodes.empty() ? std::nullopt : std::optional(std::move(needed));
}

bool moves_could_help(const Snapshot& snapshot, const FreeForVm& free, const RoomNeeded& needed) {
  const bool is_ordinary = needed.page_size == Bytes{};
  Bytes room;
  bool is_large_enough = false;
  bool is_there = false;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const Node& known = snapshot.topology.nodes[node];
    Bytes size = is_ordinary ? ordinary_for_vms(snapshot, node) : Bytes{};
    Bytes here = is_ordinary ? std::max(free.room[node], Bytes{}) : Bytes{};
    for (const FreeHugePages& pages : free.huge_pages) {
      if (!is_ordinary && pages.node == known.id && pages.page_size == needed.page_size) {
        size += pages.page_size * pages.total;
        here += pages.page_size * std::max<std::int64_t>(pages.free, 0);
      }
    }
    room += here;
    const bool could_live_there = std::ranges::find(needed.nodes, known.id) != needed.nodes.end() &&
                                  snapshot.nodes[node].known && known.cpu_count() >= needed.vcpus;
    is_large_enough = is_large_enough || (could_live_there && size >= needed.memory);
    is_there = is_there || (could_live_there && here >= needed.memory);
  }
  return !is_there && is_large_enough && room >= needed.memory;
}

std::string advice_on_room(const Snapshot& snapshot, const FreeForVm& free,
                           const RoomNeeded& needed) {
  if (!moves_could_help(snapshot, free, needed)) {
    return "";
  }
  std::string command = fmt::format("vmnuma make-room --vcpus {} --memory {}MiB", needed.vcpus,
                                    whole_mib(needed.memory));
  if (needed.page_size > Bytes{}) {
    command += fmt::format(" --hugepages {}MiB", whole_mib(needed.page_size));
  }
  if (needed.nodes.size() < snapshot.topology.nodes.size()) {
    command += fmt::format(" --on {}", to_list(needed.nodes));
  }
  return fmt::format(". All nodes together have that much: '{}' shows whether moves would help",
                     command);
}

}  // namespace vmnuma::balancer
