// SPDX-License-Identifier: Apache-2.0
#include "tests/support/description_text.h"

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "placement/model/text.h"

namespace vmnuma::tests {

namespace {

std::string name_of(NumatuneMode mode) {
  switch (mode) {
    case NumatuneMode::kNone:
      return "none";
    case NumatuneMode::kStrict:
      return "strict";
    case NumatuneMode::kPreferred:
      return "preferred";
    case NumatuneMode::kInterleave:
      return "interleave";
    case NumatuneMode::kRestrictive:
      return "restrictive";
  }
  return "?";
}

std::string text_of(const std::vector<Pin>& pins) {
  std::string text;
  for (const Pin& pin : pins) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", pin.number, to_list(pin.cpus));
  }
  return text;
}

/// Formats numbers as "0-3,8".
std::string text_of(const std::vector<std::int32_t>& numbers) {
  std::vector<CpuId> ids;
  for (const std::int32_t number : numbers) {
    ids.push_back({number});
  }
  return to_list(ids);
}

}  // namespace

std::string description_text(const VmDescription& vm) {
  std::string text;
  const auto line = [&](const std::string& key, const std::string& value) {
    text += fmt::format("{:<18}{}\n", key, value.empty() ? "-" : value);
  };
  line("id", to_text(vm.id));
  line("name", vm.name);
  line("domain id", fmt::to_string(vm.domain_id));
  line("vcpus", fmt::format("{} of {}", text_of(vm.vcpus), vm.max_vcpus));
  line("memory", fmt::format("{} of {} KiB", vm.memory.value / 1024, vm.max_memory.value / 1024));
  for (const auto& cell : vm.cells) {
    line(fmt::format("cell {}", cell.id),
         fmt::format("vcpus {}, {} KiB{}", text_of(cell.vcpus), cell.memory.value / 1024,
                     cell.binding ? fmt::format(", {} nodes '{}'", name_of(cell.binding->mode),
                                                to_list(cell.binding->nodes))
                                  : ""));
  }
  line("topology", fmt::format("{} sockets, {} dies, {} cores, {} threads", vm.sockets, vm.dies,
                               vm.cores, vm.threads));
  line("io threads", text_of(vm.io_threads));
  line("numatune", fmt::format("{}{} nodes '{}'", name_of(vm.numatune),
                               vm.numatune_auto ? " auto" : "", to_list(vm.numatune_nodes)));
  line("huge page size", fmt::format("{} KiB", vm.huge_page_size.value / 1024));
  line("locked", fmt::to_string(vm.memory_locked));
  line("shared", fmt::to_string(vm.memory_shared));
  for (const auto& device : vm.pci_devices) {
    line("pci device", device.address);
  }
  for (const auto& device : vm.mediated_devices) {
    line("mediated device", device.uuid);
  }
  for (const auto& interface : vm.host_interfaces) {
    line("host interface",
         fmt::format("{}{}", interface.name, interface.is_open_vswitch ? " (Open vSwitch)" : ""));
  }
  for (const auto& disk : vm.host_disks) {
    line("host disk", disk.name);
  }
  line("pinned by", vm.memory_pinned_by);
  line("vcpu pins", text_of(vm.vcpu_pins));
  line("emulator pin", to_list(vm.emulator_pin));
  line("io thread pins", text_of(vm.io_thread_pins));
  line("partition", vm.partition);
  for (const auto& setting : vm.own_policy) {
    line("policy", fmt::format("{}={}", setting.key, setting.value));
  }
  return text;
}

}  // namespace vmnuma::tests
