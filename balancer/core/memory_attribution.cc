// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/memory_attribution.h"

#include <algorithm>

namespace vmnuma::balancer {

namespace {

/// Splits `all` in proportion to the sizes, exactly; equal parts if no size is given.
std::vector<Bytes> quotas(Bytes all, const std::vector<MemoryOwner>& owners) {
  // In MiB, so that the product stays in range for any real machine.
  const std::int64_t sizes =
      sum_of(owners, [](const MemoryOwner& owner) { return owner.size.value >> 20U; });
  std::vector<Bytes> parts;
  Bytes left = all;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const std::int64_t weight = sizes > 0 ? owners[i].size.value >> 20U : 1;
    const std::int64_t whole = sizes > 0 ? sizes : static_cast<std::int64_t>(owners.size());
    const Bytes part = i + 1 == owners.size() ? left : all / whole * weight;
    parts.push_back(std::min(part, left));
    left -= parts.back();
  }
  return parts;
}

}  // namespace

std::vector<std::vector<Bytes>> attribute_memory(const std::vector<Bytes>& on_nodes,
                                                 const std::vector<MemoryOwner>& owners) {
  std::vector<std::vector<Bytes>> parts(owners.size(), std::vector<Bytes>(on_nodes.size()));
  std::vector<Bytes> unclaimed = on_nodes;
  for (std::size_t owner = 0; owner < owners.size(); ++owner) {
    for (NodeIndex node = 0; node < owners[owner].own.size(); ++node) {
      // The two values were not read at the same moment, nor counted in the same way.
      const Bytes own = std::min(owners[owner].own[node], unclaimed[node]);
      parts[owner][node] += own;
      unclaimed[node] -= own;
    }
  }
  std::vector<Bytes> open = quotas(sum_of(unclaimed), owners);
  const auto claim = [&](std::size_t owner, NodeIndex node) {
    const Bytes taken = std::min(open[owner], unclaimed[node]);
    parts[owner][node] += taken;
    open[owner] -= taken;
    unclaimed[node] -= taken;
  };
  for (std::size_t owner = 0; owner < owners.size(); ++owner) {
    if (owners[owner].home < on_nodes.size()) {
      claim(owner, owners[owner].home);
    }
  }
  for (NodeIndex node = 0; node < on_nodes.size(); ++node) {
    for (std::size_t owner = 0; owner < owners.size(); ++owner) {
      claim(owner, node);
    }
  }
  return parts;
}

}  // namespace vmnuma::balancer
