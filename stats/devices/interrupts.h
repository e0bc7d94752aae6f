// SPDX-License-Identifier: Apache-2.0
/// Finds the node on which a device's interrupts fire.
///
/// Problem: if an interrupt fires on a node other than its VM's, every packet has to cross nodes,
/// and nothing reports that. Approach: the interrupts of a PCI device are listed in its directory;
/// small files per interrupt give its handler, how often it fired and where it fires now.
/// /proc/interrupts has the same data in one table of all interrupts and CPUs, which the kernel
/// takes long to produce on large hosts.
///
/// Properties:
///  - interrupts are only read, never changed, and only on request;
///  - interrupts that have no handler, have never fired, or disappear while being read are left
///    out.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "placement/model/ids.h"
#include "stats/devices/host_devices.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Interrupts of a device that fire on CPUs of the same node.
struct FiringInterrupts {
  NodeId node;                        ///< negative: CPUs of several nodes
  std::vector<std::int32_t> numbers;  ///< ascending
  std::vector<CpuId> cpus;            ///< ascending
  std::string handler;                ///< of the first interrupt: "vfio-msix[0](0000:3b:00.0)"
  bool operator==(const FiringInterrupts&) const = default;
};

/// Returns the node of each online CPU from sys/devices/system/node/nodeN/cpulist (Linux 6.1,
/// drivers/base/node.c). Empty if it cannot be read.
[[nodiscard]] std::map<CpuId, NodeId> read_cpu_nodes(const files::Directory& root);

/// Returns the interrupts of these devices, by node. Reads CARRIER/msi_irqs/
/// (Documentation/ABI/testing/sysfs-bus-pci), or CARRIER/irq if there are no MSIs
/// (Documentation/PCI/sysfs-pci.rst), sys/kernel/irq/N/actions and per_cpu_count
/// (Documentation/ABI/testing/sysfs-kernel-irq), and proc/irq/N/effective_affinity_list
/// (kernel/irq/proc.c), all Linux 6.1.
[[nodiscard]] std::vector<FiringInterrupts> read_interrupts(
    const files::Directory& root, std::span<const Carrier> carriers,
    const std::map<CpuId, NodeId>& cpu_nodes);

/// Returns the addresses of the devices with vfio handlers. Handlers of vfio-pci and its variants
/// are named "vfio-msix[0](0000:3b:00.0)", "vfio-msi[0](...)" and "vfio-intx(...)"
/// (drivers/vfio/pci/vfio_pci_intrs.c, Linux 6.1).
[[nodiscard]] std::vector<std::string> pci_addresses_of_vfio(const files::Directory& root);

/// Returns the interrupts that fire on a node outside `near`. An empty `near` means any node, so
/// the result is empty.
[[nodiscard]] std::vector<FiringInterrupts> fire_elsewhere(
    std::span<const FiringInterrupts> interrupts, std::span<const NodeId> near);

/// "interrupts 57-60 (vfio-msix[0](0000:3b:00.0), ...) fire on node 0 (CPUs 0-3)"
[[nodiscard]] std::string to_text(const FiringInterrupts& interrupts);

}  // namespace vmnuma::stats
