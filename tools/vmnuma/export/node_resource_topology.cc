// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/export/documents.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;
using balancer::HostView;
using balancer::NodeView;

constexpr std::size_t kLongestObjectName = 253;

/// What VMs were promised on one node.
struct Promised {
  std::int64_t vcpus = 0;
  std::int64_t bytes = 0;
};

Promised promised_on(const HostView& host, placement::NodeId node) {
  Promised promised;
  for (const auto& vm : host.vms) {
    for (const auto& client : vm.clients) {
      if (client.home == node) {
        promised.vcpus += client.vcpus;
        promised.bytes += client.size_bytes;
      }
    }
  }
  return promised;
}

/// A Quantity is written as a string (kubernetes/apimachinery, pkg/api/resource/quantity.go).
Json resource(const char* name, std::int64_t capacity, std::int64_t allocatable,
              std::int64_t available) {
  const auto quantity = [](std::int64_t amount) {
    return std::to_string(std::max<std::int64_t>(amount, 0));
  };
  return {{"name", name},
          {"capacity", quantity(capacity)},
          {"allocatable", quantity(allocatable)},
          {"available", quantity(available)}};
}

Json resources_of(const HostView& host, const NodeView& node) {
  const Promised promised = promised_on(host, node.node);
  // Nothing is offered where the readings are missing.
  std::int64_t usable = 0;
  std::int64_t memory = 0;
  if (node.known && node.free_bytes && node.reserve_bytes) {
    usable = node.memory_bytes - *node.reserve_bytes;
    memory = std::min(usable - promised.bytes, *node.free_bytes - *node.reserve_bytes);
  }
  return {resource("cpu", node.cpus, node.known ? node.cpus : 0,
                   node.known ? node.cpus - promised.vcpus : 0),
          resource("memory", node.memory_bytes, usable, memory)};
}

std::string zone_name(const NodeView& node) {
  return fmt::format("node-{}", node.node.value);
}

Json zone(const HostView& host, const NodeView& node) {
  Json costs = Json::array();
  for (std::size_t other = 0; other < std::min(node.distances.size(), host.nodes.size()); ++other) {
    costs.push_back({{"name", zone_name(host.nodes[other])}, {"value", node.distances[other]}});
  }
  const auto attribute = [](const char* name, std::int64_t value) {
    return Json{{"name", name}, {"value", std::to_string(value)}};
  };
  Json attributes = Json::array();
  if (node.known && node.load_pct) {
    attributes.push_back(attribute("vmnuma.load-pct", *node.load_pct));
  }
  if (node.known && node.owed_ms && node.capacity_ms > 0) {  // rounded down
    attributes.push_back(attribute("vmnuma.owed-pct", *node.owed_ms * 100 / *node.capacity_ms));
  }
  return {{"name", zone_name(node)},
          {"type", "Node"},
          {"costs", std::move(costs)},
          {"attributes", std::move(attributes)},
          {"resources", resources_of(host, node)}};
}

}  // namespace

bool is_object_name(std::string_view name) {
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char before = '.';  // a label begins and ends with a letter or a digit
  for (const char c : name) {
    if (!is_end(c) && !(c == '-' && before != '.') && !(c == '.' && is_end(before))) {
      return false;
    }
    before = c;
  }
  return is_end(before) && name.size() <= kLongestObjectName;
}

std::string node_resource_topology(const ExportedHost& exported, JsonLayout layout) {
  Json zones = Json::array();
  for (const NodeView& node : exported.host.nodes) {
    zones.push_back(zone(exported.host, node));
  }
  const Json document = {{"apiVersion", "topology.node.k8s.io/v1alpha2"},
                         {"kind", "NodeResourceTopology"},
                         {"metadata", {{"name", exported.name}}},
                         {"zones", std::move(zones)}};
  return text::json_text(document, layout == JsonLayout::kIndented ? 2 : -1);
}

}  // namespace vmnuma::tools
