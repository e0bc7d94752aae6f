// SPDX-License-Identifier: Apache-2.0
/// The devices of a domain that tie its memory or its placement to the host.
///
/// Problem: a device with direct access to guest memory pins that memory, and it has a node of its
/// own; libvirt has half a dozen notations for such devices. Approach: collect the PCI addresses
/// from every notation, and list what else pins memory.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/host/xml_fields.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Host PCI devices given to the guest: <hostdev type='pci'>, <interface type='hostdev'> and <disk
/// type='nvme'>, in document order, without duplicates.
[[nodiscard]] std::vector<PciDevice> pci_devices_of(pugi::xml_node domain, XmlFields& fields);

/// The <address> in the source of the device with that PCI address; none if the domain has no such
/// device.
[[nodiscard]] pugi::xml_node pci_source_of(pugi::xml_node domain, std::string_view address);
/// Writes "0000:3b:00.0" into an <address>.
void set_pci_address(pugi::xml_node element, std::string_view address);

/// Where the guest's traffic leaves QEMU for a kernel thread or a device: the bridge or interface
/// of each <interface> with a virtio model served by vhost, and vDPA devices by name; also whether
/// it is an Open vSwitch bridge (<virtualport>). In document order, without duplicates. An
/// <interface type='network'> counts once libvirt has written the bridge or interface into the live
/// XML. Names that are invalid in the kernel do not count.
[[nodiscard]] std::vector<HostInterface> host_interfaces_of(pugi::xml_node domain);

/// Mediated devices given to the guest: <hostdev type='mdev'>, in document order.
[[nodiscard]] std::vector<MediatedDevice> mediated_devices_of(pugi::xml_node domain,
                                                              XmlFields& fields);

/// Host block devices that are disks of the guest: the name below /dev of each <disk type='block'>,
/// except CD-ROM and floppy drives. In document order, without duplicates.
[[nodiscard]] std::vector<HostDisk> host_disks_of(pugi::xml_node domain);

/// What pins guest memory in addition to PCI and mediated devices: vDPA interfaces, memory
/// encryption. Empty if nothing does.
[[nodiscard]] std::string other_memory_pin_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
