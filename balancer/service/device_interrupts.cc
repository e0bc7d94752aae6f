// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/device_interrupts.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/controller/views.h"
#include "placement/base/sorted.h"
#include "placement/model/text.h"
#include "stats/devices/host_devices.h"
#include "stats/devices/interrupts.h"

namespace vmnuma::balancer {
namespace {

/// The homes, ascending, without duplicates.
std::vector<NodeId> homes_in(const ExplainView& view) {
  std::vector<NodeId> homes;
  for (const ClientView& client : view.clients) {
    if (client.home.value >= 0) {
      homes.push_back(client.home);
    }
  }
  return sorted_unique(std::move(homes));
}

/// What to do about interrupts that fire elsewhere; empty if none does.
std::string advice_on(const std::vector<stats::FiringInterrupts>& elsewhere,
                      const std::string& what, const std::vector<NodeId>& near) {
  std::string advice;
  for (const stats::FiringInterrupts& firing : elsewhere) {
    advice += (advice.empty() ? "" : ", ") + stats::to_text(firing);
  }
  if (!advice.empty()) {
    advice += fmt::format(
        ", but {} {}: run irqbalance, or write CPUs of {} to /proc/irq/NUMBER/smp_affinity_list "
        "(irqbalance, if it runs, leaves alone what is named with --banirq)",
        what, node_or_nodes(near), near.size() == 1 ? "that node" : "these nodes");
  }
  return advice;
}

}  // namespace

void add_interrupts(ExplainView& view, const VmDescription& vm, const files::Directory& root) {
  stats::HostDevices devices(root);
  const auto cpu_nodes = stats::read_cpu_nodes(root);
  const std::vector<NodeId> homes = homes_in(view);
  auto row = view.devices.begin();
  visit_devices(vm, [&](std::string_view, const std::string&, const auto& device) {
    using Device = std::decay_t<decltype(device)>;
    DeviceView& shown = *row++;
    if constexpr (!std::is_same_v<Device, HostDisk>) {
      const bool follows_vm = std::is_same_v<Device, PciDevice> && !homes.empty();
      const std::vector<NodeId> near = follows_vm               ? homes
                                       : device.node.value >= 0 ? std::vector{device.node}
                                                                : std::vector<NodeId>{};
      const auto firing = stats::read_interrupts(root, devices.of(device), cpu_nodes);
      for (const stats::FiringInterrupts& interrupts : firing) {
        shown.interrupts.push_back(
            {interrupts.numbers, interrupts.handler, to_list(interrupts.cpus), interrupts.node});
      }
      shown.advice = advice_on(stats::fire_elsewhere(firing, near),
                               follows_vm ? "the VM lives on" : "the device is on", near);
    }
  });
}

}  // namespace vmnuma::balancer
