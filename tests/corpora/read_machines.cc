// SPDX-License-Identifier: Apache-2.0
// Prints a row of a Markdown table for each root directory of a machine: what read_topology() makes
// of it.
//
// usage: vmnuma_read_machines ROOT...
//
// Exit status 1 if one cannot be read though its kernel has NUMA.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/model/text.h"
#include "stats/topology/special_hardware.h"
#include "stats/topology/topology_reader.h"

namespace vmnuma {
namespace {

/// Without the machine's root, and as one cell of a table.
std::string cell_text(std::string text, const std::string& root) {
  for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root, at)) {
    text.erase(at, root.size());
  }
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at)) {
    text[at] = '/';
  }
  return text;
}

/// Says whether the machine was read.
bool print_row(const std::string& root) {
  const std::string name = std::filesystem::path(root).filename();
  const auto directory = files::Directory::open(root);
  const auto reading = directory.and_then(stats::read_topology);
  if (!reading) {
    fmt::print("| {} | - | - | - | | {} |\n", name, cell_text(reading.error().message, root));
    return reading.error().code == ErrorCode::kUnsupported;
  }
  const Topology& topology = reading->topology;
  std::vector<NodeId> homes;
  std::int32_t cpus = 0;
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    cpus += topology.nodes[node].cpu_count();
    if (topology.can_be_home(node)) {
      homes.push_back(topology.nodes[node].id);
    }
  }
  std::vector<std::string> left_out;
  for (const MissingSource& missing : reading->left_out) {
    left_out.push_back(cell_text(missing.source + ": " + missing.reason, root));
  }
  fmt::print("| {} | {} | {} | {} | {} | {} |\n", name, topology.nodes.size(),
             homes.empty() ? "none" : to_list(homes), cpus,
             fmt::join(stats::special_hardware(*directory, topology), "; "),
             fmt::join(left_out, "; "));
  return true;
}

}  // namespace
}  // namespace vmnuma

int main(int count, char** words) {
  bool all_read = true;
  for (int at = 1; at < count; ++at) {
    all_read = vmnuma::print_row(words[at]) && all_read;
  }
  return all_read ? 0 : 1;
}
