// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/hmat.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::stats {
namespace {

Result<std::int64_t> parse_latency(std::string_view text) {
  return parse_single_number("a latency", text);
}

/// Adds what is known about reading the memory of one node.
Result<void> add_memory(const files::Directory& initiators, const Topology& topology, NodeId memory,
                        std::vector<FirmwareLatency>& latencies) {
  const auto read_ns = read_parsed(initiators, "read_latency", parse_latency);
  if (!read_ns) {
    return read_ns.error().is_gone() ? Result<void>{} : tl::unexpected(read_ns.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto names, initiators.names());
  for (const Node& cpu : topology.nodes) {
    const std::string link = fmt::format("node{}", cpu.id.value);
    if (*read_ns > 0 && std::find(names.begin(), names.end(), link) != names.end()) {
      latencies.push_back({cpu.id, memory, *read_ns});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<FirmwareLatency>> read_hmat(const files::Directory& root,
                                               const Topology& topology) {
  std::vector<FirmwareLatency> latencies;
  for (const Node& node : topology.nodes) {
    const auto initiators = root.directory(
        fmt::format("sys/devices/system/node/node{}/access0/initiators", node.id.value));
    if (!initiators) {
      if (initiators.error().is_gone()) {
        continue;
      }
      return tl::unexpected(initiators.error());
    }
    VMNUMA_RETURN_IF_ERROR(add_memory(*initiators, topology, node.id, latencies));
  }
  return latencies;
}

}  // namespace vmnuma::stats
