// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "placement/model/domain.h"
#include "stats/text/json.h"
#include "tools/vmnuma/export/documents.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;
using balancer::HostView;
using balancer::HugePagesView;
using balancer::NodeView;

constexpr std::size_t kLongestObjectName = 253;

/// Makes a resource. A Quantity is written as a string (kubernetes/apimachinery,
/// pkg/api/resource/quantity.go).
Json resource(const std::string& name, std::int64_t capacity, std::int64_t allocatable,
              std::int64_t available) {
  const auto quantity = [](std::int64_t amount) {
    return std::to_string(std::max<std::int64_t>(amount, 0));
  };
  return {{"name", name},
          {"capacity", quantity(capacity)},
          {"allocatable", quantity(allocatable)},
          {"available", quantity(available)}};
}

/// Returns a name such as "hugepages-2Mi", with the largest binary unit that divides the size
/// (kubernetes/apimachinery, pkg/api/resource/quantity.go).
std::string huge_pages_name(std::int64_t page_bytes) {
  std::int64_t amount = page_bytes / 1024;  // no architecture has smaller pages
  std::size_t unit = 0;
  constexpr std::string_view kUnits = "KMGT";
  for (; amount % 1024 == 0 && amount > 0 && unit + 1 < kUnits.size(); ++unit) {
    amount /= 1024;
  }
  return fmt::format("hugepages-{}{}i", amount, kUnits[unit]);
}

/// Returns whether the node's resources are offered; they are not if readings are missing.
bool is_offered(const HostView& host, const NodeView& node) {
  return node.known && host.vms_known;
}

Json memory_json(const HostView& host, const NodeView& node) {
  std::int64_t usable = 0;
  std::int64_t available = 0;
  if (is_offered(host, node) && node.free_bytes && node.reserve_bytes) {
    usable = node.memory_bytes - *node.reserve_bytes;
    for (const HugePagesView& pool : node.huge_pages) {
      usable -= pool.total_bytes;
    }
    available = std::min(usable - node.promised_bytes, *node.free_bytes - *node.reserve_bytes);
  }
  return resource("memory", node.memory_bytes, usable, available);
}

Json pool_of(const ExportedHost& exported, const NodeView& node, const HugePagesView& pool) {
  const auto& all_free = exported.resources.free_huge_pages;
  const auto free = all_free.find({node.node, pool.page_bytes});
  std::int64_t usable = 0;
  std::int64_t available = 0;
  if (is_offered(exported.host, node) && free != all_free.end()) {
    usable = pool.total_bytes - pool.reserved_bytes;
    available = std::min(usable - pool.promised_bytes, free->second - pool.reserved_bytes);
  }
  return resource(huge_pages_name(pool.page_bytes), pool.total_bytes, usable, available);
}

/// Adds the devices, by kind.
void add_devices(const ExportedHost& exported, const NodeView& node, Json& resources) {
  std::set<std::string> taken;
  for (const auto& vm : exported.host.vms) {
    taken.insert(vm.pci_devices.begin(), vm.pci_devices.end());
  }
  struct Count {
    std::int64_t all = 0;
    std::int64_t free = 0;
  };
  std::map<std::string, Count> kinds;
  for (const VfioDevice& device : exported.resources.devices) {
    if (device.node == node.node) {
      Count& count = kinds[device.kind];
      ++count.all;
      count.free += taken.contains(device.address) ? 0 : 1;
    }
  }
  const bool offered = is_offered(exported.host, node);
  for (const auto& [kind, count] : kinds) {
    resources.push_back(resource("vmnuma/pci-" + kind, count.all, offered ? count.all : 0,
                                 offered ? count.free : 0));
  }
}

Json resources_of(const ExportedHost& exported, const NodeView& node) {
  const bool offered = is_offered(exported.host, node);
  Json resources = {resource("cpu", node.cpus, offered ? node.cpus : 0,
                             offered ? node.cpus - node.promised_vcpus : 0),
                    memory_json(exported.host, node)};
  for (const HugePagesView& pool : node.huge_pages) {
    resources.push_back(pool_of(exported, node, pool));
  }
  add_devices(exported, node, resources);
  return resources;
}

std::string zone_name(const NodeView& node) {
  return fmt::format("node-{}", node.node.value);
}

Json attribute(const char* name, std::string_view value) {
  return {{"name", name}, {"value", value}};
}

/// Returns what a VM without a policy of its own gets, in the kubelet's terms; other VMs may have
/// other requests.
Json attributes_of(const HostView& host) {
  const VmPolicy unasked;
  const bool whole = unasked.topology_scope == TopologyScope::kVm;
  return {attribute("topologyManagerPolicy", name_of(unasked.topology_policy)),
          attribute("topologyManagerScope", whole ? "pod" : "container"),
          attribute("vmnuma.admission", host.admission),
          attribute("vmnuma.distances", host.distances_measured ? "measured" : "firmware")};
}

Json zone(const ExportedHost& exported, const NodeView& node) {
  const HostView& host = exported.host;
  Json costs = Json::array();
  for (std::size_t other = 0; other < std::min(node.distances.size(), host.nodes.size()); ++other) {
    costs.push_back({{"name", zone_name(host.nodes[other])}, {"value", node.distances[other]}});
  }
  Json attributes = Json::array();
  if (node.known && node.load_pct) {
    attributes.push_back(attribute("vmnuma.load-pct", std::to_string(*node.load_pct)));
  }
  if (node.known && node.owed_ms && node.capacity_ms > 0) {  // rounded down
    attributes.push_back(
        attribute("vmnuma.owed-pct", std::to_string(*node.owed_ms * 100 / *node.capacity_ms)));
  }
  if (is_offered(host, node) && node.largest_vm_bytes) {
    attributes.push_back(
        attribute("vmnuma.largest-vm-memory", std::to_string(*node.largest_vm_bytes)));
  }
  return {{"name", zone_name(node)},
          {"type", "Node"},
          {"costs", std::move(costs)},
          {"attributes", std::move(attributes)},
          {"resources", resources_of(exported, node)}};
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
    zones.push_back(zone(exported, node));
  }
  const Json document = {
      {"apiVersion", "topology.node.k8s.io/v1alpha2"}, {"kind", "NodeResourceTopology"},
      {"metadata", {{"name", exported.name}}},         {"topologyPolicies", {"None"}},
      {"attributes", attributes_of(exported.host)},    {"zones", std::move(zones)}};
  return text::json_text(document, layout == JsonLayout::kIndented ? 2 : -1);
}

}  // namespace vmnuma::tools
