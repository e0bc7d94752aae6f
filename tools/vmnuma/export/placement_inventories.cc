// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/export/documents.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

/// placement/db/constants.py, MAX_INT.
constexpr std::int64_t kMostOfAClass = std::numeric_limits<std::int32_t>::max();

Json inventory(std::int64_t total, std::int64_t reserved) {
  return {{"total", total}, {"reserved", std::clamp<std::int64_t>(reserved, 0, total)},
          {"min_unit", 1},  {"max_unit", total},
          {"step_size", 1}, {"allocation_ratio", 1.0}};
}

/// Returns the inventories. A class without any resources has none, because its total would have to
/// be at least 1.
Json inventories_of(const balancer::NodeView& node) {
  Json inventories = Json::object();
  if (node.cpus > 0) {
    inventories["VCPU"] = inventory(node.cpus, node.known ? 0 : node.cpus);
  }
  const std::int64_t memory = std::min(node.memory_bytes / kMiB.value, kMostOfAClass);
  if (memory > 0) {
    const bool offered = node.known && node.reserve_bytes;
    inventories["MEMORY_MB"] =
        inventory(memory, offered ? (*node.reserve_bytes + kMiB.value - 1) / kMiB.value : memory);
  }
  return inventories;
}

}  // namespace

std::string placement_inventories(const ExportedHost& exported, JsonLayout layout) {
  Json providers = Json::array();
  for (const balancer::NodeView& node : exported.host.nodes) {
    // A newly created provider has generation 0.
    providers.push_back(
        {{"resource_provider",
          {{"name", fmt::format("{}_NUMA{}", exported.name, node.node.value)}}},
         {"inventories",
          {{"resource_provider_generation", 0}, {"inventories", inventories_of(node)}}}});
  }
  return text::json_text(Json{{"providers", std::move(providers)}},
                         layout == JsonLayout::kIndented ? 2 : -1);
}

}  // namespace vmnuma::tools
