// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/controller/views.h"
#include "stats/text/json.h"
#include "tools/vmnuma/text/optimal_text.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using balancer::InTheWay;
using balancer::Outlook;
using balancer::RoomMade;
using balancer::RoomWanted;
using nlohmann::ordered_json;

constexpr std::int64_t kSmallPage = 4096;

/// Returns how long it takes to move the memory of clients that move at the same time, at the
/// permitted rates, rounded up. Nothing if there is no such rate, or if no memory moves.
std::optional<std::int64_t> seconds_to_move(const std::vector<Relocation>& relocations,
                                            const Options& options) {
  const auto takes = [](Bytes memory, std::int64_t pages_per_second) {
    const std::int64_t rate = pages_per_second * kSmallPage;
    return rate > 0 ? (memory.value + rate - 1) / rate : 0;
  };
  if (options.page_mig_enable == 0 ||
      (options.page_mig_rate_max == 0 && options.page_mig_vm_rate_max == 0)) {
    return std::nullopt;
  }
  Bytes all;
  std::int64_t seconds = 0;
  for (const Relocation& relocation : relocations) {
    all += relocation.memory;
    seconds = std::max(seconds, takes(relocation.memory, options.page_mig_vm_rate_max));
  }
  return std::max(seconds, takes(all, options.page_mig_rate_max));
}

std::int32_t priority_of(const Outlook& outlook, const ClientId& client) {
  const VmState* const vm = find_vm(outlook.snapshot, client.vm);
  return vm == nullptr ? 0 : vm->policy.priority;
}

std::int32_t id_of(const Outlook& outlook, NodeIndex node) {
  return outlook.snapshot.topology.nodes[node].id.value;
}

/// Returns the time of all steps, one after the other.
std::optional<std::int64_t> seconds_of(const RoomMade& room, const Outlook& outlook) {
  std::int64_t all = 0;
  for (const balancer::Step& step : room.sequence.steps) {
    const auto seconds = seconds_to_move(step.relocations, outlook.options);
    if (!seconds) {
      return std::nullopt;
    }
    all += *seconds;
  }
  return all;
}

std::string seconds_text(std::optional<std::int64_t> seconds) {
  return seconds ? fmt::format(", {} s", *seconds) : "";
}

/// "a VM of 8 vCPUs and 64.0 GiB"
std::string wanted_text(const RoomWanted& wanted) {
  std::string text =
      fmt::format("a VM of {} vCPUs and {}", wanted.vcpus, bytes_text(wanted.memory.value));
  if (wanted.page_size > Bytes{}) {
    text += fmt::format(" on pages of {}", bytes_text(wanted.page_size.value));
  }
  return text;
}

std::string why(const InTheWay& one, const Outlook& outlook) {
  return one.detail.empty() ? balancer::guard_text(one.because, outlook.options) : one.detail;
}

std::string steps_text(const RoomMade& room, const Outlook& outlook) {
  std::string out;
  std::size_t number = 0;
  for (const balancer::Step& step : room.sequence.steps) {
    ++number;
    for (const Relocation& relocation : step.relocations) {
      const std::int32_t priority = priority_of(outlook, relocation.client);
      out += fmt::format("{:>3}. {}: node {} to {}, {}{}{}\n", number,
                         printable(balancer::client_text(outlook.snapshot, relocation.client)),
                         id_of(outlook, relocation.from), id_of(outlook, relocation.to),
                         bytes_text(relocation.memory.value),
                         seconds_text(seconds_to_move({relocation}, outlook.options)),
                         priority == 0 ? "" : fmt::format(", priority {}", priority));
    }
  }
  return out;
}

}  // namespace

std::string text_of(const RoomMade& room, const RoomWanted& wanted, const Outlook& outlook) {
  std::string out;
  if (room.node == kNoNode) {
    out += wrapped(
        fmt::format("No moves make room on one node for {}: {}", wanted_text(wanted), room.refused),
        /*indent=*/0);
    for (const InTheWay& one : room.in_the_way) {
      out += wrapped(
          fmt::format("In the way: {} with {} on node {}: {}",
                      balancer::client_text(outlook.snapshot, one.client),
                      bytes_text(one.memory.value), id_of(outlook, one.on), why(one, outlook)),
          /*indent=*/2);
    }
    return out;
  }
  if (room.sequence.steps.empty()) {
    return wrapped(fmt::format("Node {} already has room for {}: nothing needs to move",
                               id_of(outlook, room.node), wanted_text(wanted)),
                   /*indent=*/0);
  }
  out += wrapped(fmt::format("To make room on node {} for {}, move", id_of(outlook, room.node),
                             wanted_text(wanted)),
                 /*indent=*/0);
  out += steps_text(room, outlook);
  out += fmt::format("     {} {}, {} of memory{} at the permitted rate\n", room.moves,
                     room.moves == 1 ? "move" : "moves", bytes_text(room.memory.value),
                     seconds_text(seconds_of(room, outlook)));
  if (!room.is_cheapest) {
    out += wrapped(fmt::format("The search ended before it was known whether less memory or fewer "
                               "moves would do; at least {} must move.",
                               bytes_text(room.least.value)),
                   /*indent=*/0);
  }
  return out;
}

std::string json_of(const RoomMade& room, const RoomWanted& wanted, const Outlook& outlook) {
  const auto number = [](const std::optional<std::int64_t>& known) {
    return known ? ordered_json(*known) : ordered_json();
  };
  ordered_json steps = ordered_json::array();
  for (const balancer::Step& step : room.sequence.steps) {
    ordered_json relocations = ordered_json::array();
    for (const Relocation& relocation : step.relocations) {
      relocations.push_back(json_of(relocation, outlook.snapshot));
      relocations.back()["priority"] = priority_of(outlook, relocation.client);
    }
    steps.push_back({{"relocations", std::move(relocations)},
                     {"seconds", number(seconds_to_move(step.relocations, outlook.options))}});
  }
  ordered_json in_the_way = ordered_json::array();
  for (const InTheWay& one : room.in_the_way) {
    in_the_way.push_back(json_of(one.client, outlook.snapshot));
    in_the_way.back().update({{"node", id_of(outlook, one.on)},
                              {"memory_bytes", one.memory.value},
                              {"guard", name_of(one.because)},
                              {"because", why(one, outlook)}});
  }
  const bool is_possible = room.node != kNoNode;
  const ordered_json json = {
      {"epoch", outlook.snapshot.epoch},
      {"vcpus", wanted.vcpus},
      {"memory_bytes", wanted.memory.value},
      {"page_bytes", wanted.page_size.value},
      {"node", is_possible ? ordered_json(id_of(outlook, room.node)) : ordered_json()},
      {"fits_now", is_possible && room.sequence.steps.empty()},
      {"steps", std::move(steps)},
      {"moves", room.moves},
      {"moved_bytes", room.memory.value},
      {"seconds", number(is_possible ? seconds_of(room, outlook) : std::nullopt)},
      {"is_cheapest", room.is_cheapest},
      {"least_bytes", is_possible ? ordered_json(room.least.value) : ordered_json()},
      {"refused", room.refused},
      {"in_the_way", std::move(in_the_way)}};
  return text::json_text(json) + "\n";
}

}  // namespace vmnuma::tools
