// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/found_pins.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

using Kind = PinState::Kind;

/// The node with exactly these usable CPUs, or nothing.
std::optional<NodeIndex> whole_node(const Topology& topology, const std::vector<CpuId>& cpus) {
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    if (cpus == cpus_of(topology.nodes[node])) {
      return node;
    }
  }
  return std::nullopt;
}

}  // namespace

PinReader::PinReader(const Topology& topology) : topology_(topology) {
  for (const Node& node : topology.nodes) {
    const std::vector<CpuId> cpus = cpus_of(node);
    every_.insert(every_.end(), cpus.begin(), cpus.end());
  }
  std::ranges::sort(every_);
}

std::vector<CpuId> PinReader::usable(const std::vector<CpuId>& cpus) const {
  std::vector<CpuId> both;
  std::set_intersection(cpus.begin(), cpus.end(), every_.begin(), every_.end(),
                        std::back_inserter(both));
  return both;
}

/// The vCPUs of one client, by how they are pinned.
struct PinReader::Pins {
  bool unpinned = false;  ///< some vCPUs have not been pinned yet
  bool free = false;      ///< some are pinned to all CPUs that VMs may use
  bool gone = false;      ///< some are pinned only to CPUs that VMs cannot use
  /// The pins of all others, reduced to CPUs that VMs may use.
  std::set<std::vector<CpuId>> narrow;
};

PinReader::Pins PinReader::pins_of(const VmRecord& vm, const ClientRecord& client,
                                   const std::vector<CpuId>& part) const {
  std::set<std::vector<CpuId>> found;  // usually one
  Pins pins;
  for (const std::int32_t vcpu : client.shape.vcpus) {
    std::vector<CpuId> pin = pinned_cpus(vm.description.vcpu_pins, vcpu);
    if (pin.empty()) {
      pins.unpinned = true;
    } else {
      found.insert(std::move(pin));
    }
  }
  const bool by_default = found.erase(vm.description.default_pin) > 0;
  for (const std::vector<CpuId>& pin : found) {
    std::vector<CpuId> cpus = usable(pin);
    const bool is_advised =
        pin == vm.description.advised_cpus && cpus != part && !whole_node(topology_, cpus);
    if (cpus.empty()) {
      pins.gone = true;
    } else if (cpus == every_ || is_advised) {
      pins.free = true;
    } else {
      pins.narrow.insert(std::move(cpus));
    }
  }
  if (by_default && (!pins.narrow.empty() || pins.gone)) {
    pins.unpinned = true;
  } else if (by_default) {
    std::vector<CpuId> cpus = usable(vm.description.default_pin);
    pins.gone = cpus.empty();
    pins.free = pins.free || cpus == every_;
    if (!pins.gone && cpus != every_) {
      pins.narrow.insert(std::move(cpus));
    }
  }
  return pins;
}

PinState PinReader::state_of(const VmRecord& vm, const ClientRecord& client,
                             const std::vector<CpuId>& given) const {
  const std::vector<CpuId> part = usable(given);
  const Pins pins = pins_of(vm, client, part);
  if (pins.narrow.empty() && !pins.gone && !part.empty() && part == every_ &&
      client.home.value >= 0) {
    return {Kind::kOneNode, client.home};  // its home is the only node
  }
  if (pins.narrow.empty()) {
    return {!pins.gone ? Kind::kFree : pins.free ? Kind::kOther : Kind::kGone, {}};
  }
  if (pins.narrow.size() > 1 || pins.free || pins.gone) {
    return {Kind::kOther, {}};
  }
  const std::vector<CpuId>& cpus = *pins.narrow.begin();
  const Kind kind = pins.unpinned ? Kind::kIncomplete : Kind::kOneNode;
  if (cpus == part) {
    return {kind, client.home.value >= 0 ? client.home : client.pinned_to};
  }
  const std::optional<NodeIndex> node = whole_node(topology_, cpus);
  const bool lost_its_part = node && !given.empty() && topology_.nodes[*node].id == client.home;
  return node && !lost_its_part ? PinState{kind, topology_.nodes[*node].id}
                                : PinState{Kind::kOther, {}};
}

std::vector<CpuId> common_pin(const VmRecord& vm, const ClientRecord& client) {
  std::vector<CpuId> common;
  for (const std::int32_t vcpu : client.shape.vcpus) {
    std::vector<CpuId> pin = pinned_cpus(vm.description.vcpu_pins, vcpu);
    if (pin.empty() || (!common.empty() && common != pin)) {
      return {};
    }
    common = std::move(pin);
  }
  return common;
}

std::string differing_pins_text(const std::vector<CpuId>& given) {
  return given.empty()
             ? "its vCPUs are not pinned to exactly one whole node"
             : fmt::format("its vCPUs are pinned to CPUs other than {}, which it was given",
                           to_list(given));
}

VmCpus pins_as_given(const VmRecord& vm) {
  VmCpus given;
  for (const ClientRecord& client : vm.clients) {
    given.clients.push_back(common_pin(vm, client));
  }
  given.reach = vm.description.emulator_pin;
  return given;
}

}  // namespace vmnuma::balancer
