// SPDX-License-Identifier: Apache-2.0
/// Finds the node to which each host device of a VM is attached. This is the only place that maps a
/// name in a VM's definition to a node.
///
/// Problem: a device that a VM uses is attached to a node, but the VM's definition often names
/// something built on top of the device: a bridge, a bond, a VLAN, a logical volume, a mediated
/// device. Approach: resolve each name to its *carriers*, the bus devices that have a node.
/// Passed-through PCI devices are looked up by address, mediated ones by UUID; a network interface
/// is followed down the kernel's lower_* links to adapters, or through the ports of its Open
/// vSwitch bridge; a vDPA device is resolved to its parent, a block device through slaves/ to its
/// controllers. If a carrier's directory names no node, the nearest ancestor that names one is
/// used: virtio, USB and SCSI devices have no node of their own. Term: an adapter is an interface
/// with a device of its own.
///
/// Properties:
///  - a device above carriers of several nodes has no node;
///  - following links always terminates, even if they form a cycle or an endless chain;
///  - bridges with hundreds of taps are read once for all VMs;
///  - Open vSwitch is queried only for interfaces declared as its own, once for all VMs;
///  - nothing is logged; a node that cannot be determined is unknown.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "stats/devices/ovs_bridges.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Parses the file numa_node of a device in sysfs: a number and a newline, -1 if the firmware does
/// not name a node (numa_node_show, drivers/pci/pci-sysfs.c, Linux 6.1). Error: corrupt, quoting
/// the text.
[[nodiscard]] Result<NodeId> parse_numa_node(std::string_view text);

struct Carrier {
  std::string directory;  ///< relative to the root; not the only path to it
  NodeId node;            ///< negative: not known
  bool operator==(const Carrier&) const = default;
};

/// Returns the node that all carriers share. Negative if there are no carriers, or if they are on
/// several nodes or on an unknown one.
[[nodiscard]] NodeId common_node(std::span<const Carrier> carriers);

/// A view of the host's devices at one point in time; nothing is read twice. `root` must outlive
/// it: "/" on a live host. Names must have passed placement/model/device_names.h, as they become
/// parts of paths. Blocks; for Open vSwitch for at most `patience`.
class HostDevices {
 public:
  /// For callers that keep nothing else waiting.
  static constexpr std::chrono::milliseconds kPatience{1000};

  explicit HostDevices(const files::Directory& root, std::chrono::milliseconds patience = kPatience)
      : root_(root), patience_(patience) {}

  [[nodiscard]] std::vector<Carrier> of(const PciDevice& device) const;
  /// Returns the parent device, below which sys/bus/mdev/devices/UUID is found
  /// (Documentation/driver-api/vfio-mediated-device.rst, Linux 6.1).
  [[nodiscard]] std::vector<Carrier> of(const MediatedDevice& device) const;
  /// Returns the named adapter itself or all adapters below the named interface
  /// (sys/class/net/NAME/lower_*, Linux 6.1, Documentation/ABI/testing/sysfs-class-net), the parent
  /// of a vDPA device ("vhost-vdpa-0"), or the adapters of an Open vSwitch bridge. If Open
  /// vSwitch's database does not answer (by default only root may query it), all adapters of the
  /// kernel's datapath (ovs-system) are returned.
  [[nodiscard]] std::vector<Carrier> of(const HostInterface& interface);
  /// Returns the controllers below a disk, partition, device-mapper or md device:
  /// sys/class/block/NAME with device, slaves/ (block/holder.c) and partition
  /// (block/partitions/core.c, Linux 6.1). Names assigned by udev are looked up in its database:
  /// run/udev/data/bMAJOR:MINOR, lines "S:NAME" (systemd 252,
  /// src/libsystemd/sd-device/sd-device.c).
  [[nodiscard]] std::vector<Carrier> of(const HostDisk& disk);

 private:
  [[nodiscard]] std::set<std::string> block_devices_named(const std::string& name);
  [[nodiscard]] std::vector<std::string> interfaces_below_switch(const std::string& bridge);

  const files::Directory& root_;
  std::chrono::milliseconds patience_;
  std::map<std::string, std::vector<Carrier>> interfaces_;  ///< by name
  std::optional<Result<OvsBridges>> switch_;                ///< Open vSwitch's answer
  /// By udev's names, without "/dev/"; a name that several devices claim maps to all of them.
  std::optional<std::map<std::string, std::set<std::string>>> block_links_;
};

/// Fills in the nodes of all host devices that the VMs use. A device that is gone or cannot be
/// resolved has no node, and then affects no decision.
void read_device_nodes(const files::Directory& root, std::span<VmDescription> vms,
                       std::chrono::milliseconds patience = HostDevices::kPatience);

}  // namespace vmnuma::stats
