// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/node_locality.h"

#include <algorithm>
#include <cstdint>

namespace vmnuma::tools {

std::map<NodeId, double> node_locality(const balancer::HostView& host) {
  struct Sum {
    std::int64_t local = 0;
    std::int64_t all = 0;
  };
  std::map<NodeId, Sum> sums;
  for (const balancer::VmView& vm : host.vms) {
    for (const balancer::VmClientView& client : vm.clients) {
      Sum& sum = sums[client.home];
      for (std::size_t i = 0; i < std::min(client.memory_bytes.size(), host.nodes.size()); ++i) {
        sum.all += client.memory_bytes[i];
        sum.local += host.nodes[i].node == client.home ? client.memory_bytes[i] : 0;
      }
    }
  }
  std::map<NodeId, double> shares;
  for (const auto& [node, sum] : sums) {
    if (node.value >= 0 && sum.all > 0) {
      shares[node] = static_cast<double>(sum.local) / static_cast<double>(sum.all);
    }
  }
  return shares;
}

}  // namespace vmnuma::tools
