// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/interrupts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "placement/base/mapped.h"
#include "placement/base/number.h"
#include "placement/model/text.h"
#include "stats/files/read_parsed.h"

namespace vmnuma::stats {
namespace {

/// Parses the text up to its first line end, or all of it.
std::optional<std::int32_t> number_in(std::string_view text) {
  const auto number = whole_number<std::int32_t>(text.substr(0, text.find('\n')));
  return number.value_or(-1) >= 0 ? number : std::nullopt;
}

/// Ascending.
std::set<std::int32_t> numbers_of(const files::Directory& root, const std::string& carrier) {
  std::set<std::int32_t> numbers;
  for (const std::string& name : names_in(root, carrier + "/msi_irqs")) {
    if (const auto number = number_in(name)) {
      numbers.insert(*number);
    }
  }
  if (numbers.empty()) {
    const auto line = number_in(root.read(carrier + "/irq").value_or(""));
    if (line && *line > 0) {
      numbers.insert(*line);
    }
  }
  return numbers;
}

/// Returns the interrupt's handler, "" if there is none; "a,b" if several share the line.
std::string handler_of(const files::Directory& root, const std::string& number) {
  return first_line_of(root, "sys/kernel/irq/" + number + "/actions");
}

/// "0,12,0\n": a count per possible CPU. True if the file cannot be read.
bool has_fired(const files::Directory& root, std::int32_t number) {
  const auto counts = root.read(fmt::format("sys/kernel/irq/{}/per_cpu_count", number));
  return !counts || counts->find_first_of("123456789") != std::string::npos;
}

/// Returns the node of these CPUs; negative if they are on several nodes.
NodeId node_of(const std::vector<CpuId>& cpus, const std::map<CpuId, NodeId>& cpu_nodes) {
  std::set<NodeId> nodes;
  for (const CpuId cpu : cpus) {
    const auto known = cpu_nodes.find(cpu);
    nodes.insert(known == cpu_nodes.end() ? NodeId{} : known->second);
  }
  return nodes.size() == 1 ? *nodes.begin() : NodeId{};
}

}  // namespace

std::map<CpuId, NodeId> read_cpu_nodes(const files::Directory& root) {
  std::map<CpuId, NodeId> nodes;
  const std::string folder = "sys/devices/system/node/";
  for (const NodeId node :
       read_parsed(root, folder + "online", parse_node_list).value_or(std::vector<NodeId>{})) {
    for (const CpuId cpu :
         read_parsed(root, fmt::format("{}node{}/cpulist", folder, node.value), parse_cpu_list)
             .value_or(std::vector<CpuId>{})) {
      nodes[cpu] = node;
    }
  }
  return nodes;
}

std::vector<FiringInterrupts> read_interrupts(const files::Directory& root,
                                              std::span<const Carrier> carriers,
                                              const std::map<CpuId, NodeId>& cpu_nodes) {
  std::set<std::int32_t> numbers;
  for (const Carrier& carrier : carriers) {
    numbers.merge(numbers_of(root, carrier.directory));
  }
  std::map<NodeId, FiringInterrupts> by_node;
  for (const std::int32_t number : numbers) {
    const std::string handler = handler_of(root, std::to_string(number));
    const auto cpus = read_parsed(root, fmt::format("proc/irq/{}/effective_affinity_list", number),
                                  parse_cpu_list);
    if (handler.empty() || !cpus || cpus->empty() || !has_fired(root, number)) {
      continue;
    }
    const NodeId node = node_of(*cpus, cpu_nodes);
    FiringInterrupts& firing = by_node[node];
    firing.node = node;
    firing.handler = firing.numbers.empty() ? handler : firing.handler;
    firing.numbers.push_back(number);
    std::vector<CpuId> all;
    std::set_union(firing.cpus.begin(), firing.cpus.end(), cpus->begin(), cpus->end(),
                   std::back_inserter(all));
    firing.cpus = std::move(all);
  }
  return mapped(by_node, [](auto& entry) { return std::move(entry.second); });
}

std::vector<std::string> pci_addresses_of_vfio(const files::Directory& root) {
  std::set<std::string> addresses;
  for (const std::string& number : names_in(root, "sys/kernel/irq")) {
    const std::string handlers = handler_of(root, number);
    for (std::size_t at = handlers.find("vfio-"); at != std::string::npos;
         at = handlers.find("vfio-", at + 1)) {
      const std::size_t open = handlers.find('(', at);
      const std::size_t close = handlers.find(')', at);
      if (open != std::string::npos && close != std::string::npos && open < close) {
        addresses.insert(handlers.substr(open + 1, close - open - 1));
      }
    }
  }
  return {addresses.begin(), addresses.end()};
}

std::vector<FiringInterrupts> fire_elsewhere(std::span<const FiringInterrupts> interrupts,
                                             std::span<const NodeId> near) {
  std::vector<FiringInterrupts> elsewhere;
  std::copy_if(interrupts.begin(), interrupts.end(), std::back_inserter(elsewhere),
               [&](const FiringInterrupts& firing) {
                 return firing.node.value >= 0 && !near.empty() &&
                        std::find(near.begin(), near.end(), firing.node) == near.end();
               });
  return elsewhere;
}

std::string to_text(const FiringInterrupts& interrupts) {
  const bool is_one = interrupts.numbers.size() == 1;
  const std::string where = interrupts.node.value < 0
                                ? std::string("several nodes")
                                : fmt::format("node {}", interrupts.node.value);
  return fmt::format("interrupt{} {} ({}{}) fire{} on {} (CPUs {})", is_one ? "" : "s",
                     to_list(interrupts.numbers), interrupts.handler, is_one ? "" : ", ...",
                     is_one ? "s" : "", where, to_list(interrupts.cpus));
}

}  // namespace vmnuma::stats
