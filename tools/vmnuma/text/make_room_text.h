// SPDX-License-Identifier: Apache-2.0
/// Formats the moves that make room for a VM, for humans and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/controller.h"
#include "balancer/optimal/make_room.h"

namespace vmnuma::tools {

/// Returns how long it takes to move the memory of clients that move at the same time, at the
/// permitted rates, rounded up. Nothing if there is no such rate, or if no memory moves.
[[nodiscard]] std::optional<std::int64_t> seconds_to_move(
    const std::vector<Relocation>& relocations, const Options& options);

/// Returns what must be done and what it costs, or why nothing helps and which VMs are in the way.
[[nodiscard]] std::string text_of(const balancer::RoomMade& room,
                                  const balancer::RoomWanted& wanted,
                                  const balancer::Outlook& outlook);

/// Returns an object: epoch, vcpus, memory_bytes, page_bytes (0: ordinary pages), node (null:
/// nowhere), fits_now, steps (each with relocations, as those of optimal_text.h with the VM's
/// priority, and seconds), moves, moved_bytes, seconds, is_cheapest, refused, in_the_way. One line.
[[nodiscard]] std::string json_of(const balancer::RoomMade& room,
                                  const balancer::RoomWanted& wanted,
                                  const balancer::Outlook& outlook);

}  // namespace vmnuma::tools
