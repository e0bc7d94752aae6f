// SPDX-License-Identifier: Apache-2.0
#include "tests/property/random_host.h"

#include <algorithm>
#include <string>
#include <vector>

#include "placement/arrangement.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::tests {

namespace {

struct Size {
  std::int64_t least_nodes;
  std::int64_t most_nodes;
  std::int64_t least_cores;
  std::int64_t most_cores;
  std::int64_t least_clients;
  std::int64_t most_clients;
};

Snapshot random_host(std::uint64_t number, const Size& size, const Options& options) {
  Draw draw(number, 1);
  SnapshotBuilder builder;
  builder.options(options);
  const std::int64_t nodes = draw.between(size.least_nodes, size.most_nodes);
  const auto cores = static_cast<std::int32_t>(draw.between(size.least_cores, size.most_cores));
  const bool alike = draw.one_in(2);
  std::int64_t all_cores = 0;
  for (std::int64_t node = 0; node < nodes; ++node) {
    const auto here =
        alike ? cores : static_cast<std::int32_t>(draw.between(size.least_cores, size.most_cores));
    builder.node({.cores = here,
                  .threads_per_core = number % 3 == 0 ? 2 : 1,
                  .others_pct = draw.one_in(4) ? draw.up_to(200) : 0});
    all_cores += here;
  }
  const std::int64_t clients = draw.between(size.least_clients, size.most_clients);
  const std::int64_t wanted = all_cores * draw.between(50, 130) / 100;
  for (std::int64_t i = 0; i < clients; ++i) {
    const std::int64_t vcpus =
        std::clamp<std::int64_t>(wanted * draw.between(30, 170) / 100 / clients, 1, cores);
    builder.vm({.name = "vm-" + std::to_string(i),
                .homes = {static_cast<NodeIndex>(draw.up_to(nodes - 1))},
                .vcpus = static_cast<std::int32_t>(vcpus),
                .busy_pct = draw.between(70, 100),
                .weight = draw.one_in(4) ? static_cast<std::int32_t>(draw.between(50, 400)) : 100});
  }
  return builder.build();
}

}  // namespace

Snapshot small_host(std::uint64_t number, const Options& options) {
  return random_host(number, {2, 4, 4, 16, 2, 9}, options);
}

Snapshot large_host(std::uint64_t number, const Options& options) {
  return random_host(number, {8, 8, 12, 40, 60, 60}, options);
}

CpuTime least_lost(const Snapshot& snapshot, const Options& options) {
  const std::size_t clients = snapshot.clients.size();
  const std::size_t nodes = snapshot.nodes.size();
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  // Owed on each node by each set of clients.
  std::vector<std::vector<CpuTime>> owed(nodes);
  for (NodeIndex node = 0; node < nodes; ++node) {
    for (std::size_t set = 0; set < std::size_t{1} << clients; ++set) {
      std::vector<Load> loads;
      for (ClientIndex client = 0; client < clients; ++client) {
        if ((set >> client & 1U) != 0) {
          loads.push_back(arrangement.load(client));
        }
      }
      owed[node].push_back(NodeLoad(arrangement.node(node).supply(), loads).owed());
    }
  }
  // The best for a set of clients on the first nodes, node by node.
  std::vector<CpuTime> best = owed[0];
  for (NodeIndex node = 1; node < nodes; ++node) {
    std::vector<CpuTime> with = best;
    for (std::size_t set = 0; set < best.size(); ++set) {
      for (std::size_t here = set; here != 0; here = (here - 1) & set) {
        with[set] = std::min(with[set], best[set & ~here] + owed[node][here]);
      }
      with[set] = std::min(with[set], best[set] + owed[node][0]);
    }
    best = std::move(with);
  }
  return best.back();
}

}  // namespace vmnuma::tests
