// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/host_file.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/files/file.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"
#include "stats/text/json.h"
#include "stats/topology/topology_reader.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostBytes = std::size_t{16} * 1024 * 1024;
constexpr std::int64_t kMostId = 65535;  // CPUs and nodes; Linux 6.1 has at most 8192 and 1024
constexpr std::int64_t kFarthest = 255;  // ACPI 6.5, table 5.96
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4096;

std::int64_t free_pages(const std::vector<HugePagePool>& pools, Bytes page_size) {
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const HugePagePool& pool) {
    return pool.page_size == page_size;
  });
  return found == pools.end() ? 0 : found->pages;
}

Json node_json(const AdviceHost& host, std::size_t index) {
  const Node& node = host.topology.nodes[index];
  Json json = {
      {"node", node.id.value}, {"socket", node.package}, {"memory_bytes", node.memory.value}};
  if (!host.free.empty()) {
    json["free_bytes"] = host.free[index].value;
  }
  json["cpus"] = Json::array();
  for (const Cpu& cpu : node.cpus) {
    json["cpus"].push_back(
        {{"cpu", cpu.id.value}, {"core", cpu.core}, {"cache", cpu.last_level_cache}});
  }
  json["huge_pages"] = Json::array();
  for (const HugePagePool& pool : node.huge_pages) {
    Json pages = {{"page_bytes", pool.page_size.value}, {"pages", pool.pages}};
    if (!host.free_huge_pages.empty()) {
      pages["free"] = free_pages(host.free_huge_pages[index], pool.page_size);
    }
    json["huge_pages"].push_back(std::move(pages));
  }
  return json;
}

/// Reads members and records the first wrong one.
class Reader {
 public:
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  std::int64_t number(const Json& object, const char* name, std::int64_t least, std::int64_t most) {
    const auto member = object.is_object() ? object.find(name) : object.end();
    const auto value = member == object.end() ? std::nullopt : text::integer_of(*member);
    if (!value || *value < least || *value > most) {
      complain(fmt::format("'{}' is not a number from {} to {}", name, least, most));
      return least;
    }
    return *value;
  }
  std::int32_t small(const Json& object, const char* name, std::int64_t least, std::int64_t most) {
    return static_cast<std::int32_t>(number(object, name, least, most));
  }
  /// Returns a list, which is empty if the member is missing.
  Json list(const Json& object, const char* name) {
    const auto member = object.is_object() ? object.find(name) : object.end();
    if (member == object.end() || !member->is_array()) {
      complain(fmt::format("'{}' is not a list", name));
      return Json::array();
    }
    return *member;
  }
  void complain(std::string what) {
    if (complaint_.empty()) {
      complaint_ = std::move(what);
    }
  }

 private:
  std::string complaint_;
};

void read_node(const Json& json, Reader& reader, AdviceHost& host) {
  Node node;
  node.id = {reader.small(json, "node", 0, kMostId)};
  node.package = reader.small(json, "socket", -1, kMostId);
  node.memory = {reader.number(json, "memory_bytes", 0, kMost)};
  std::set<CpuId> cpus;
  for (const Json& cpu : reader.list(json, "cpus")) {
    node.cpus.push_back({{reader.small(cpu, "cpu", 0, kMostId)},
                         reader.small(cpu, "core", 0, kMostId),
                         reader.small(cpu, "cache", 0, kMostId)});
    if (!cpus.insert(node.cpus.back().id).second) {
      reader.complain(fmt::format("CPU {} is listed twice", node.cpus.back().id.value));
    }
  }
  std::ranges::sort(node.cpus, {}, &Cpu::id);
  std::vector<HugePagePool> free;
  for (const Json& pool : reader.list(json, "huge_pages")) {
    const Bytes size{reader.number(pool, "page_bytes", 1, kMost)};
    const std::int64_t most = kMost / size.value;
    if (std::any_of(node.huge_pages.begin(), node.huge_pages.end(),
                    [&](const HugePagePool& other) { return other.page_size == size; })) {
      reader.complain(fmt::format("huge pages of {} bytes are listed twice", size.value));
    }
    node.huge_pages.push_back({size, reader.number(pool, "pages", 0, most)});
    if (pool.contains("free")) {
      free.push_back({size, reader.number(pool, "free", 0, most)});
    }
  }
  if (free.size() == node.huge_pages.size()) {
    host.free_huge_pages.push_back(std::move(free));
  }
  if (json.is_object() && json.contains("free_bytes")) {
    host.free.push_back({reader.number(json, "free_bytes", 0, kMost)});
  }
  if (!host.topology.nodes.empty() && host.topology.nodes.back().id >= node.id) {
    reader.complain("the nodes are not in the order of their numbers");
  }
  host.topology.nodes.push_back(std::move(node));
}

void read_distances(const Json& json, Reader& reader, AdviceHost& host) {
  const Json rows = reader.list(json, "distances");
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != rows.size()) {
      reader.complain("'distances' is not square");
      return;
    }
    for (const Json& value : row) {
      const auto distance = text::integer_of(value).value_or(0);
      if (distance < kLocalDistance || distance > kFarthest) {
        reader.complain(
            fmt::format("a distance is not a number from {} to {}", kLocalDistance, kFarthest));
      }
      host.topology.distances.push_back(static_cast<std::int32_t>(distance));
    }
  }
  if (rows.size() != host.topology.nodes.size()) {
    reader.complain("'distances' has not a row for each node");
  }
}

/// Leaves out what is not known of all nodes.
void leave_out_incomplete(AdviceHost& host) {
  const std::size_t nodes = host.topology.nodes.size();
  if (host.free.size() != nodes) {
    host.free.clear();
  }
  if (host.free_huge_pages.size() != nodes) {
    host.free_huge_pages.clear();
  }
}

}  // namespace

std::string host_file_text(const AdviceHost& host, const std::string& name, int indent) {
  Json json = {{"vmnuma_host", kVersion}, {"name", name}, {"prefer_ht", host.prefer_ht}};
  json["distances"] = Json::array();
  json["nodes"] = Json::array();
  for (std::size_t i = 0; i < host.topology.nodes.size(); ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < host.topology.nodes.size(); ++j) {
      row.push_back(host.topology.distance(i, j));
    }
    json["distances"].push_back(std::move(row));
    json["nodes"].push_back(node_json(host, i));
  }
  return text::json_text(json, indent) + "\n";
}

Result<AdviceHost> parse_host_file(std::string_view text, std::string_view file) {
  VMNUMA_ASSIGN_OR_RETURN(const auto json,
                          text::read_json<Json>(text, {.bytes = kMostBytes}, file));
  Reader reader;
  AdviceHost host;
  if (const std::int64_t version =
          reader.number(json, "vmnuma_host", 0, std::numeric_limits<std::int32_t>::max());
      reader.complaint().empty() && version != kVersion) {
    reader.complain(fmt::format("version {} is not understood, only {}", version, kVersion));
  }
  host.prefer_ht = json.value("prefer_ht", Json(false)) == Json(true);
  for (const Json& node : reader.list(json, "nodes")) {
    read_node(node, reader, host);
  }
  read_distances(json, reader, host);
  if (!reader.complaint().empty()) {
    return failure(ErrorCode::kCorrupt, fmt::format("{}: {}", file, reader.complaint()));
  }
  leave_out_incomplete(host);
  return host;
}

Result<AdviceHost> read_host_file(const std::string& path) {
  return files::read_file(path, kMostBytes).and_then([&](const std::string& text) {
    return parse_host_file(text, fmt::format("'{}'", path));
  });
}

Result<AdviceHost> read_advice_host(const std::string& root_path) {
  VMNUMA_ASSIGN_OR_RETURN(const auto root, files::Directory::open(root_path));
  VMNUMA_ASSIGN_OR_RETURN(auto reading, stats::read_topology(root));
  AdviceHost host;
  host.topology = std::move(reading.topology);
  for (const Node& node : host.topology.nodes) {
    const std::string folder = fmt::format("sys/devices/system/node/node{}", node.id.value);
    if (const auto memory = files::read_parsed(
            root, folder + "/meminfo",
            [&](std::string_view text) { return stats::parse_node_meminfo(node.id, text); })) {
      host.free.push_back(memory->free);
    }
    std::vector<HugePagePool> free;
    for (const HugePagePool& pool : node.huge_pages) {
      if (const auto pages =
              files::read_parsed(root,
                                 fmt::format("{}/hugepages/hugepages-{}kB/free_hugepages", folder,
                                             pool.page_size.value / kKiB.value),
                                 stats::parse_page_count)) {
        free.push_back({pool.page_size, *pages});
      }
    }
    if (free.size() == node.huge_pages.size()) {
      host.free_huge_pages.push_back(std::move(free));
    }
  }
  leave_out_incomplete(host);
  return host;
}

}  // namespace vmnuma::tools
