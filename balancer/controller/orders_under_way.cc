// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/orders_under_way.h"

#include <algorithm>

namespace vmnuma::balancer {

using placement::Relocation;
using placement::VmId;

std::vector<VmId> vms_of(const placement::Action& action) {
  std::vector<VmId> vms;
  for (const Relocation& relocation : action.relocations) {
    if (std::find(vms.begin(), vms.end(), relocation.client.vm) == vms.end()) {
      vms.push_back(relocation.client.vm);
    }
  }
  return vms;
}

std::int64_t OrdersUnderWay::begin(UnderWay order) {
  under_way_.emplace(next_, std::move(order));
  return take_number();
}

UnderWay* OrdersUnderWay::find(std::int64_t action) {
  const auto found = under_way_.find(action);
  return found == under_way_.end() ? nullptr : &found->second;
}

const UnderWay* OrdersUnderWay::find(std::int64_t action) const {
  const auto found = under_way_.find(action);
  return found == under_way_.end() ? nullptr : &found->second;
}

std::optional<OrdersUnderWay::Finished> OrdersUnderWay::take_finished(std::int64_t action) {
  const auto found = finished_.find(action);
  if (found == finished_.end()) {
    return std::nullopt;
  }
  const Finished finished = found->second;
  finished_.erase(found);
  return finished;
}

bool OrdersUnderWay::is_younger(const VmId& vm, std::int64_t than) const {
  return std::any_of(under_way_.upper_bound(than), under_way_.end(), [&](const auto& entry) {
    const auto& relocations = entry.second.action.relocations;
    return std::any_of(relocations.begin(), relocations.end(),
                       [&](const Relocation& one) { return one.client.vm == vm; });
  });
}

}  // namespace vmnuma::balancer
