// SPDX-License-Identifier: Apache-2.0
#include "placement/advice/pool_devices.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace vmnuma {
namespace {

std::string node_text(NodeId node) {
  return node.value < 0 ? std::string("an unknown node") : "node " + std::to_string(node.value);
}

bool has(const std::vector<PciDevice>& devices, const std::string& address) {
  return std::ranges::any_of(devices,
                             [&address](const PciDevice& one) { return one.address == address; });
}

class Chooser {
 public:
  Chooser(const AdviceRequest& request, const AdviceHost& host, const std::vector<NodeIndex>& homes)
      : request_(request), host_(host), homes_(homes), its_(request.vm.pci_devices) {}

  Result<PoolChoice> next(const std::string& name) {
    const auto pool = std::ranges::find(request_.pools, name, &DevicePool::name);
    if (pool == request_.pools.end()) {
      return failure(ErrorCode::kNotFound, "its policy's device_pool names '" + name +
                                               "', but the configuration has no pool of that name");
    }
    std::optional<PciDevice> doubly_held;
    for (const PciDevice& device : pool->devices) {
      if (!has(its_, device.address) || has(settled_, device.address)) {
        continue;
      }
      if (holder_of(device) == nullptr) {
        settled_.push_back(device);
        return PoolChoice{{device.address, ""}, device.node, name, "the VM has it already"};
      }
      doubly_held = doubly_held.value_or(device);
    }
    return free_one(*pool, doubly_held);
  }

 private:
  Result<PoolChoice> free_one(const DevicePool& pool, const std::optional<PciDevice>& instead_of) {
    if (instead_of) {
      std::erase_if(its_, [&](const PciDevice& one) { return one.address == instead_of->address; });
    }
    const PciDevice* best = nullptr;
    std::string held;
    for (const PciDevice& device : pool.devices) {
      const HeldDevice* holder = holder_of(device);
      if (holder != nullptr) {
        held += (held.empty() ? ": '" : ", '") + holder->vm_name + "' has " + device.address;
      } else if (!has(settled_, device.address) &&
                 (best == nullptr || rank(device) < rank(*best))) {
        best = &device;
      }
    }
    if (best == nullptr) {
      return failure(ErrorCode::kNoSpace,
                     "no device of the pool '" + pool.name + "' is free" + held);
    }
    PoolChoice choice{{best->address, ""}, best->node, pool.name, ""};
    if (instead_of) {
      choice.device.instead_of = instead_of->address;
      choice.reason =
          "'" + holder_of(*instead_of)->vm_name + "' has " + instead_of->address + ", too; ";
    }
    choice.reason += "it is on " + node_text(best->node) +
                     ", and no free one is nearer to where the VM can live";
    settled_.push_back(*best);
    its_.push_back(*best);
    return choice;
  }

  /// Returns another VM that has the device; null if there is none.
  [[nodiscard]] const HeldDevice* holder_of(const PciDevice& device) const {
    const auto held = std::ranges::find_if(request_.held, [&](const HeldDevice& candidate) {
      return candidate.address == device.address && candidate.vm != request_.vm.id;
    });
    return held == request_.held.end() ? nullptr : &*held;
  }

  /// Less is better: how far from where the VM may live, how far from its other devices, how little
  /// memory is free there.
  using Rank = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string_view>;
  [[nodiscard]] Rank rank(const PciDevice& device) const {
    constexpr std::int64_t kNotKnown = INT32_MAX;
    const std::optional<NodeIndex> node = host_.topology.index_of(device.node);
    if (!node) {
      return {kNotKnown, 0, 0, device.address};
    }
    std::int64_t to_home = kNotKnown;
    for (const NodeIndex home : homes_) {
      to_home = std::min<std::int64_t>(to_home, host_.topology.distance(*node, home));
    }
    std::int64_t to_others = 0;
    for (const PciDevice& other : its_) {
      if (const auto its_node = host_.topology.index_of(other.node)) {
        to_others += host_.topology.distance(*node, *its_node);
      }
    }
    return {to_home, to_others, host_.free.empty() ? 0 : -host_.free[*node].value, device.address};
  }

  const AdviceRequest& request_;
  const AdviceHost& host_;
  const std::vector<NodeIndex>& homes_;
  std::vector<PciDevice> its_;      ///< devices that it keeps and those that it gets
  std::vector<PciDevice> settled_;  ///< those matched to an entry of the policy
};

}  // namespace

Result<std::vector<PoolChoice>> pool_devices(const AdviceRequest& request, const AdviceHost& host,
                                             const std::vector<NodeIndex>& homes) {
  Chooser chooser(request, host, homes);
  std::vector<PoolChoice> choices;
  for (const std::string& name : request.vm.policy.device_pools) {
    VMNUMA_ASSIGN_OR_RETURN(auto choice, chooser.next(name));
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace vmnuma
