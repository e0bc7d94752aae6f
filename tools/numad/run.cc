// SPDX-License-Identifier: Apache-2.0
#include "tools/numad/run.h"

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/protocol/response.h"
#include "placement/base/sorted.h"
#include "placement/model/text.h"
#include "stats/text/printable.h"
#include "tools/client/client.h"
#include "tools/numad/arguments.h"
#include "tools/numad/local_choice.h"
#include "tools/numad/name.h"

namespace vmnuma::tools {

namespace {

using Nodes = std::vector<NodeId>;

/// Checks that the host has all of these nodes; a host that does not list its nodes is assumed to.
/// Error: corrupt.
Result<Nodes> known_here(Nodes nodes, const std::string& root) {
  const auto online = files::Directory::open(root).and_then(all_nodes);
  for (const NodeId node : online ? nodes : Nodes{}) {
    if (!std::binary_search(online->begin(), online->end(), node)) {
      return failure(
          ErrorCode::kCorrupt,
          fmt::format("the daemon's answer names node {}, which is not online here", node.value));
    }
  }
  return nodes;
}

Result<Nodes> ask_daemon(const NumadArguments& arguments, std::chrono::milliseconds limit) {
  const auto text = ask(arguments.socket_path,
                        balancer::SuggestRequest{arguments.vcpus, arguments.memory_mib}, limit);
  if (!text) {
    return tl::unexpected(text.error().error);
  }
  VMNUMA_ASSIGN_OR_RETURN(auto view, balancer::decode_view<balancer::SuggestView>(*text));
  Nodes nodes = sorted_unique(std::move(view.nodes));
  if (nodes.empty() || nodes.front().value < 0) {
    return failure(ErrorCode::kCorrupt, "the daemon's answer names no node");
  }
  return nodes;
}

}  // namespace

int run_numad(std::span<const std::string> arguments, const NumadSurroundings& surroundings) {
  const auto read = parse_numad_arguments(arguments);
  if (!read) {
    surroundings.err << "numad: " << text::printable(read.error().message) << "\n";
    return kNumadUsage;
  }
  if (read->help) {
    surroundings.out << numad_help();
    return kNumadAnswered;
  }
  if (read->version) {
    surroundings.out << kNumadName << " " VMNUMA_VERSION "\n";
    return kNumadAnswered;
  }
  Result<Nodes> nodes = ask_daemon(*read, surroundings.daemon_limit).and_then([&](Nodes answered) {
    return known_here(std::move(answered), surroundings.root);
  });
  const auto fall_back = [&](std::string_view how, const auto& choose) {
    if (nodes) {
      return;
    }
    surroundings.err << fmt::format("numad: {}; {}\n", text::printable(nodes.error().message), how);
    const auto root = files::Directory::open(surroundings.root);
    nodes = root ? choose(*root) : Result<Nodes>(tl::unexpected(root.error()));
  };
  fall_back("choosing by free memory instead", [&](const files::Directory& root) {
    return choose_locally(root, read->vcpus, read->memory_mib, surroundings.turn);
  });
  fall_back("naming all nodes instead", all_nodes);
  if (!nodes) {
    surroundings.err << fmt::format("numad: {}; there is no answer\n",
                                    text::printable(nodes.error().message));
    return kNumadFailed;
  }
  surroundings.out << to_list(*nodes) << "\n" << std::flush;
  return surroundings.out ? kNumadAnswered : kNumadFailed;
}

}  // namespace vmnuma::tools
