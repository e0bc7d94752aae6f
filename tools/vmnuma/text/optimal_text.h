// SPDX-License-Identifier: Apache-2.0
/// Formats what balancer/optimal finds, for humans and as JSON on one line, with its end: a repack,
/// and the moves that make room for a VM.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "balancer/controller/controller.h"
#include "balancer/optimal/make_room.h"
#include "balancer/optimal/repack.h"

namespace vmnuma::tools {

[[nodiscard]] std::string text_of(const balancer::Repack& repack, const balancer::Outlook& outlook);
[[nodiscard]] std::string json_of(const balancer::Repack& repack, const balancer::Outlook& outlook);

/// Returns what must be done and what it costs, or why nothing helps and which VMs are in the way.
[[nodiscard]] std::string text_of(const balancer::RoomMade& room,
                                  const balancer::RoomWanted& wanted,
                                  const balancer::Outlook& outlook);

/// Returns an object: epoch, vcpus, memory_bytes, page_bytes (0: ordinary pages), node (null:
/// nowhere), fits_now, steps (each with relocations, as those of a repack with the VM's priority,
/// and seconds), moves, moved_bytes, seconds, is_cheapest, refused, in_the_way.
[[nodiscard]] std::string json_of(const balancer::RoomMade& room,
                                  const balancer::RoomWanted& wanted,
                                  const balancer::Outlook& outlook);

/// Returns an object: vm, vm_uuid, client.
[[nodiscard]] nlohmann::ordered_json json_of(const ClientId& client, const Snapshot& snapshot);
/// Likewise, and from, to, memory_bytes.
[[nodiscard]] nlohmann::ordered_json json_of(const Relocation& relocation,
                                             const Snapshot& snapshot);

}  // namespace vmnuma::tools
