// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/device_checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/devices/host_devices.h"
#include "stats/devices/interrupts.h"
#include "stats/files/read_parsed.h"

namespace vmnuma::tools {

namespace {

using files::Directory;

/// Returns the interfaces through which guests' traffic leaves: bridges, the datapath of Open
/// vSwitch, macvtaps and vDPA devices.
std::set<std::string> ways_out(const files::Directory& root) {
  constexpr std::string_view kUpper = "upper_";
  std::set<std::string> ways;
  const std::string net = "sys/class/net/";
  for (const std::string& name : names_in(root, net)) {
    if (root.directory(net + name + "/macvtap")) {
      ways.insert(name);
    } else if (root.read(net + name + "/tun_flags")) {
      for (const std::string& entry : names_in(root, net + name)) {
        if (entry.starts_with(kUpper)) {
          ways.insert(entry.substr(kUpper.size()));
        }
      }
    }
  }
  const std::string vdpa = "sys/bus/vdpa/devices/";
  for (const std::string& device : names_in(root, vdpa)) {
    for (const std::string& entry : names_in(root, vdpa + device)) {
      if (entry.starts_with("vhost-vdpa-")) {
        ways.insert(entry);
      }
    }
  }
  return ways;
}

/// A device that VMs use, and where its interrupts belong.
struct UsedDevice {
  std::string what;  ///< "PCI device 0000:3b:00.0 belongs to VM 'web1', which is on node 1"
  std::vector<stats::Carrier> carriers;
  std::vector<NodeId> near;  ///< ascending; empty: unknown
};

UsedDevice shared_device(const std::string& name, std::vector<stats::Carrier> carriers) {
  const NodeId node = stats::common_node(carriers);
  std::vector<NodeId> near;
  if (node.value >= 0) {
    near.push_back(node);
  }
  return {fmt::format("{} is on {}", name, node_or_nodes(near)), std::move(carriers), near};
}

/// Describes a passed-through device. It counts as shared unless it is known which VM has it and
/// where that VM lives.
UsedDevice passed_through(const std::string& address, std::vector<stats::Carrier> carriers,
                          const Result<balancer::HostView>& host) {
  const std::string name = "PCI device " + address;
  for (const balancer::VmView& vm : host ? host->vms : std::vector<balancer::VmView>{}) {
    std::set<NodeId> homes;
    for (const balancer::VmClientView& client : vm.clients) {
      homes.insert(client.home);
    }
    homes.erase(homes.begin(), homes.lower_bound(NodeId{0}));
    if (!homes.empty() &&
        std::find(vm.pci_devices.begin(), vm.pci_devices.end(), address) != vm.pci_devices.end()) {
      const std::vector<NodeId> near(homes.begin(), homes.end());
      return {
          fmt::format("{} belongs to VM '{}', which is on {}", name, vm.vm, node_or_nodes(near)),
          std::move(carriers), near};
    }
  }
  return shared_device(name, std::move(carriers));
}

Finding finding_on(const UsedDevice& device, const stats::FiringInterrupts& firing,
                   const std::map<CpuId, NodeId>& cpu_nodes) {
  std::vector<CpuId> cpus;
  for (const auto& [cpu, node] : cpu_nodes) {
    if (std::binary_search(device.near.begin(), device.near.end(), node)) {
      cpus.push_back(cpu);
    }
  }
  return {"interrupts",
          Severity::kNote,
          fmt::format("{}, but its {}", device.what, stats::to_text(firing)),
          "Run irqbalance, or let them fire there (a running irqbalance leaves interrupts alone "
          "that are named with --banirq):",
          {fmt::format("for irq in {}; do echo {} > /proc/irq/$irq/smp_affinity_list; done",
                       fmt::join(firing.numbers, " "), to_list(cpus))}};
}

}  // namespace

std::vector<Finding> check_interrupts(const files::Directory& root,
                                      const Result<balancer::HostView>& host) {
  stats::HostDevices devices(root);
  std::vector<UsedDevice> used;
  for (const std::string& address : stats::pci_addresses_of_vfio(root)) {
    used.push_back(passed_through(address, devices.of(PciDevice{address, {}}), host));
  }
  for (const std::string& name : ways_out(root)) {
    used.push_back(shared_device("the adapter below " + name, devices.of(HostInterface{name, {}})));
  }
  const std::map<CpuId, NodeId> cpu_nodes = stats::read_cpu_nodes(root);
  std::vector<Finding> findings;
  for (const UsedDevice& device : used) {
    const auto firing = stats::read_interrupts(root, device.carriers, cpu_nodes);
    for (const stats::FiringInterrupts& elsewhere : stats::fire_elsewhere(firing, device.near)) {
      findings.push_back(finding_on(device, elsewhere, cpu_nodes));
    }
  }
  if (findings.empty()) {
    findings.push_back(
        {"interrupts", Severity::kOk,
         used.empty()
             ? "no VM is seen to use a device of this host"
             : "interrupts of VMs' devices fire on the nodes of the VMs or of the devices"});
  }
  return findings;
}

}  // namespace vmnuma::tools
