// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/memory_nodes.h"

#include <cstddef>

#include <libvirt/libvirt.h>

#include "placement/model/text.h"

namespace vmnuma::balancer {

std::vector<NodeId> allowed_memory_nodes(virDomain* domain) {
  int count = 0;
  if (virDomainGetNumaParameters(domain, nullptr, &count, /*flags=*/0) != 0 || count <= 0) {
    return {};
  }
  std::vector<virTypedParameter> parameters(static_cast<std::size_t>(count));
  if (virDomainGetNumaParameters(domain, parameters.data(), &count, /*flags=*/0) != 0) {
    return {};
  }
  std::vector<NodeId> nodes;
  const char* text = nullptr;
  if (virTypedParamsGetString(parameters.data(), count, VIR_DOMAIN_NUMA_NODESET, &text) == 1) {
    nodes = parse_node_list(text).value_or(std::vector<NodeId>{});
  }
  virTypedParamsClear(parameters.data(), count);
  return nodes;
}

}  // namespace vmnuma::balancer
