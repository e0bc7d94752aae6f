// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/special_hardware.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/fields.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::stats {
namespace {

class Finder {
 public:
  Finder(const files::Directory& root, const Topology& topology)
      : root_(root), topology_(topology) {}

  [[nodiscard]] std::vector<std::string> find() && {
    say("memory only",
        nodes_that([](const Node& node) { return node.package < 0 && node.memory > Bytes{}; }));
    say("memory of a GPU", gpu_nodes());
    say("CPUs only",
        nodes_that([](const Node& node) { return node.package >= 0 && node.memory == Bytes{}; }));
    say("neither CPUs nor memory, as generic initiators",
        nodes_that([](const Node& node) { return node.package < 0 && node.memory == Bytes{}; }));
    find_clusters();
    find_tiers();
    say("memory behind a cache of its own", nodes_that([this](const Node& node) {
          return !names_in(root_, fmt::format("sys/devices/system/node/node{}/memory_side_cache",
                                              node.id.value))
                      .empty();
        }));
    find_capacities();
    return std::move(found_);
  }

 private:
  void say(std::string_view what, const std::vector<NodeId>& nodes) {
    if (!nodes.empty()) {
      found_.push_back(fmt::format("{}: {}", what, node_or_nodes(nodes)));
    }
  }

  template <class Test>
  [[nodiscard]] std::vector<NodeId> nodes_that(Test test) const {
    std::vector<NodeId> nodes;
    for (const Node& node : topology_.nodes) {
      if (test(node)) {
        nodes.push_back(node.id);
      }
    }
    return nodes;
  }

  [[nodiscard]] std::vector<NodeId> gpu_nodes() const {
    constexpr std::string_view kGpus = "proc/driver/nvidia/gpus";
    std::set<NodeId> nodes;
    for (const std::string& gpu : names_in(root_, kGpus)) {
      const std::string text =
          root_.read(fmt::format("{}/{}/numa_status", kGpus, gpu)).value_or("");
      std::string_view rest = text;
      while (auto line = take_line(rest)) {
        if (take_word(*line) != "Node:") {
          continue;
        }
        const auto number = take_number<std::int32_t>(*line);
        if (number && topology_.index_of(NodeId{*number})) {
          nodes.insert(NodeId{*number});
        }
      }
    }
    return {nodes.begin(), nodes.end()};
  }

  /// Sub-NUMA clusters, into which firmware divides a package.
  void find_clusters() {
    std::map<std::int32_t, std::vector<NodeId>> nodes_of;
    for (const Node& node : topology_.nodes) {
      if (node.package >= 0) {
        nodes_of[node.package].push_back(node.id);
      }
    }
    std::string packages;
    for (const auto& [package, nodes] : nodes_of) {
      if (nodes.size() > 1) {
        packages +=
            fmt::format("{}{} in {}", packages.empty() ? "" : ", ", node_or_nodes(nodes), package);
      }
    }
    if (!packages.empty()) {
      found_.push_back("several nodes in a package: " + packages);
    }
  }

  void find_tiers() {
    constexpr std::string_view kTiers = "sys/devices/virtual/memory_tiering";
    std::map<std::int32_t, std::vector<NodeId>> tiers;
    for (const std::string& name : names_in(root_, kTiers)) {
      const auto number = to_number<std::int32_t>(after(name, "memory_tier").value_or(""));
      const auto nodes =
          read_parsed(root_, fmt::format("{}/{}/nodelist", kTiers, name), parse_node_list);
      if (number && nodes && !nodes->empty()) {
        tiers.emplace(*number, *nodes);
      }
    }
    if (tiers.size() < 2) {
      return;
    }
    std::string text;
    for (const auto& [number, nodes] : tiers) {
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", number, node_or_nodes(nodes));
    }
    found_.push_back("memory tiers: " + text);
  }

  void find_capacities() {
    std::optional<std::int64_t> least;
    std::int64_t most = 0;
    for (const Node& node : topology_.nodes) {
      for (const Cpu& cpu : node.cpus) {
        const auto capacity = read_parsed(
            root_, fmt::format("sys/devices/system/cpu/cpu{}/cpu_capacity", cpu.id.value),
            [](std::string_view text) { return parse_single_number("a CPU's capacity", text); });
        if (capacity) {
          least = std::min(least.value_or(*capacity), *capacity);
          most = std::max(most, *capacity);
        }
      }
    }
    if (least && *least != most) {
      found_.push_back(
          fmt::format("CPUs with capacities from {} to {}, which count alike", *least, most));
    }
  }

  const files::Directory& root_;
  const Topology& topology_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> special_hardware(const files::Directory& root, const Topology& topology) {
  return Finder(root, topology).find();
}

}  // namespace vmnuma::stats
