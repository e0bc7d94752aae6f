// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/optimal_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "placement/model/text.h"
#include "stats/text/json.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using balancer::Assignment;
using balancer::Outlook;
using balancer::Repack;
using nlohmann::ordered_json;

std::int64_t rounded_ms(CpuTime time) {
  return (time.value + (time.value < 0 ? -500 : 500)) / 1000;
}

/// Returns the cost above the bound, in thousandths of what all clients want, or nothing.
std::optional<std::int64_t> above_bound(const Repack& repack, const Assignment& homes) {
  if (!repack.optimum.bound || repack.demand <= CpuTime{}) {
    return std::nullopt;
  }
  const CpuTime above = std::max(homes.cost - *repack.optimum.bound, CpuTime{});
  return (above.value * 1000 + repack.demand.value / 2) / repack.demand.value;
}

std::int64_t moves(const Repack& repack, const Assignment& homes) {
  std::int64_t count = 0;
  for (std::size_t client = 0; client < homes.homes.size(); ++client) {
    count += homes.homes[client] == repack.present.homes[client] ? 0 : 1;
  }
  return count;
}

std::string_view vm_name(const Snapshot& snapshot, const ClientId& client) {
  const VmState* const vm = find_vm(snapshot, client.vm);
  return vm == nullptr ? std::string_view() : std::string_view(vm->name);
}

NodeId node_id(const Snapshot& snapshot, NodeIndex node) {
  return node == kNoNode ? NodeId{} : snapshot.topology.nodes[node].id;
}

std::string row(std::string_view name, const Repack& repack, const Assignment& homes) {
  const auto above = above_bound(repack, homes);
  return fmt::format("{:<9}  {:>9}  {:>11}  {:>7}  {:>10}  {:>13}\n", name, rounded_ms(homes.lost),
                     moves(repack, homes), rounded_ms(homes.moving), rounded_ms(homes.cost),
                     above ? permille_text(above, "%") : "not known");
}

std::string step_text(std::size_t number, const balancer::Step& step, const Snapshot& snapshot) {
  std::string out = fmt::format("{:>3}. {}\n", number,
                                step.relocations.size() > 1 ? "at the same time" : "one client");
  for (const Relocation& relocation : step.relocations) {
    out += wrapped(fmt::format("{} client {}: node {} to {}, {} of memory",
                               vm_name(snapshot, relocation.client), relocation.client.index,
                               node_text(node_id(snapshot, relocation.from)),
                               node_text(node_id(snapshot, relocation.to)),
                               bytes_text(relocation.memory.value)),
                   /*indent=*/5);
  }
  return out + fmt::format("     lost time {} to {} ms per epoch, costs {} ms once\n",
                           rounded_ms(step.lost_before), rounded_ms(step.lost_after),
                           rounded_ms(step.cost));
}

ordered_json json_of_homes(const Repack& repack, const Assignment& homes) {
  const auto above = above_bound(repack, homes);
  return {{"lost_ms", rounded_ms(homes.lost)},
          {"moves", moves(repack, homes)},
          {"moving_ms", rounded_ms(homes.moving)},
          {"cost_ms", rounded_ms(homes.cost)},
          {"above_bound_permille", above ? ordered_json(*above) : ordered_json()}};
}

ordered_json json_of_step(const balancer::Step& step, const Snapshot& snapshot) {
  ordered_json relocations = ordered_json::array();
  for (const Relocation& relocation : step.relocations) {
    relocations.push_back(json_of(relocation, snapshot));
  }
  return {{"relocations", std::move(relocations)},
          {"lost_before_ms", rounded_ms(step.lost_before)},
          {"lost_after_ms", rounded_ms(step.lost_after)},
          {"cost_ms", rounded_ms(step.cost)}};
}

}  // namespace

ordered_json json_of(const ClientId& client, const Snapshot& snapshot) {
  return {
      {"vm", vm_name(snapshot, client)}, {"vm_uuid", to_text(client.vm)}, {"client", client.index}};
}

ordered_json json_of(const Relocation& relocation, const Snapshot& snapshot) {
  ordered_json json = json_of(relocation.client, snapshot);
  json["from"] = node_id(snapshot, relocation.from).value;
  json["to"] = node_id(snapshot, relocation.to).value;
  json["memory_bytes"] = relocation.memory.value;
  return json;
}

std::string text_of(const Repack& repack, const Outlook& outlook) {
  const Snapshot& snapshot = outlook.snapshot;
  std::string out = fmt::format(
      "Epoch {}: {} clients want {} ms of CPU time per epoch\n\n"
      "           lost time        moves   moving        cost      above the\n"
      "           per epoch                 once   per epoch          bound\n",
      snapshot.epoch, snapshot.clients.size(), rounded_ms(repack.demand));
  out += row("now", repack, repack.present);
  out += row("planner", repack, repack.planner);
  out += row("optimum", repack, repack.optimum.best);
  if (repack.optimum.bound) {
    out += fmt::format("{:<9}  {:>42}\n", "bound", rounded_ms(*repack.optimum.bound));
  }
  out += "\nSteps\n";
  for (std::size_t i = 0; i < repack.sequence.steps.size(); ++i) {
    out += step_text(i + 1, repack.sequence.steps[i], snapshot);
  }
  if (repack.sequence.steps.empty()) {
    out += "  none: nothing moves\n";
  }
  for (const balancer::Stuck& stuck : repack.sequence.stuck) {
    out += wrapped(fmt::format("{} client {} cannot be moved to node {}: {}",
                               vm_name(snapshot, stuck.client), stuck.client.index,
                               node_text(node_id(snapshot, stuck.to)), name_of(stuck.because)),
                   /*indent=*/2);
  }
  if (!repack.optimum.trouble.empty()) {
    out += "\nNote\n" +
           wrapped(fmt::format("The solver did not find the optimum: {}. Shown instead is the "
                               "better of the present homes and those that the planner finds.",
                               repack.optimum.trouble),
                   /*indent=*/2);
  }
  return out;
}

std::string json_of(const Repack& repack, const Outlook& outlook) {
  ordered_json steps = ordered_json::array();
  for (const balancer::Step& step : repack.sequence.steps) {
    steps.push_back(json_of_step(step, outlook.snapshot));
  }
  ordered_json stuck = ordered_json::array();
  for (const balancer::Stuck& one : repack.sequence.stuck) {
    stuck.push_back(json_of(one.client, outlook.snapshot));
    stuck.back()["to"] = node_id(outlook.snapshot, one.to).value;
    stuck.back()["because"] = name_of(one.because);
  }
  const ordered_json json = {
      {"epoch", outlook.snapshot.epoch},
      {"demand_ms", rounded_ms(repack.demand)},
      {"now", json_of_homes(repack, repack.present)},
      {"planner", json_of_homes(repack, repack.planner)},
      {"optimum", json_of_homes(repack, repack.optimum.best)},
      {"bound_ms",
       repack.optimum.bound ? ordered_json(rounded_ms(*repack.optimum.bound)) : ordered_json()},
      {"trouble", repack.optimum.trouble},
      {"steps", std::move(steps)},
      {"stuck", std::move(stuck)}};
  return text::json_text(json) + "\n";
}

}  // namespace vmnuma::tools
