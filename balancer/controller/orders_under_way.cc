// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/orders_under_way.h"

#include <algorithm>

namespace vmnuma::balancer {

namespace {

bool is_of(const UnderWay& order, const VmId& vm) {
  return std::ranges::any_of(order.action.relocations,
                             [&](const Relocation& one) { return one.client.vm == vm; });
}

}  // namespace

std::vector<VmId> vms_of(const Action& action) {
  std::vector<VmId> vms;
  for (const Relocation& relocation : action.relocations) {
    if (std::ranges::find(vms, relocation.client.vm) == vms.end()) {
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

void OrdersUnderWay::vm_ended(const VmId& vm) {
  const auto is_of_client = [&vm](const auto& entry) { return entry.first.vm == vm; };
  for (auto& [action, order] : under_way_) {
    std::erase_if(order.action.relocations,
                  [&vm](const Relocation& one) { return one.client.vm == vm; });
    std::erase_if(order.homes_before, is_of_client);
    std::erase_if(order.spills_before, is_of_client);
    order.first_changes.erase(vm);
    std::erase_if(order.cpu_subsets_before, [&vm](const auto& entry) { return entry.first == vm; });
  }
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

bool OrdersUnderWay::involves(const VmId& vm) const {
  return std::ranges::any_of(under_way_,
                             [&](const auto& entry) { return is_of(entry.second, vm); });
}

bool OrdersUnderWay::is_superseded(std::int64_t action, const VmId& vm) const {
  return std::any_of(under_way_.upper_bound(action), under_way_.end(), [&](const auto& entry) {
    return !changes_cpus_only(entry.second.action.reason) && is_of(entry.second, vm);
  });
}

}  // namespace vmnuma::balancer
