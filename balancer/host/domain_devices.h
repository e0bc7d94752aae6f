// SPDX-License-Identifier: Apache-2.0
/// The devices of a domain that tie its memory or its place to the host.
///
/// Problem: a device with direct access to guest memory pins that memory where it is, and it sits
/// on a node of its own; libvirt spells such devices in half a dozen ways. Approach: collect the
/// PCI addresses from every spelling, and name what else pins memory.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/host/xml_fields.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Host PCI devices given to the guest: <hostdev type='pci'>, <interface type='hostdev'> and
/// <disk type='nvme'>, in document order, each once.
[[nodiscard]] std::vector<placement::PciDevice> pci_devices_of(pugi::xml_node domain,
                                                               XmlFields& fields);

/// The source's <address> of the device that is the PCI device of that address; none if the domain
/// has none.
[[nodiscard]] pugi::xml_node pci_source_of(pugi::xml_node domain, std::string_view address);
/// Writes "0000:3b:00.0" into an <address>.
void set_pci_address(pugi::xml_node element, std::string_view address);

/// Where the guest's traffic leaves QEMU for a worker of the kernel's or a device: the bridge or
/// interface of each <interface> of a virtio model that vhost serves, and vDPA devices by their
/// name; whether it is a bridge of Open vSwitch (<virtualport>) besides. In document order, each
/// once. An <interface type='network'> counts once libvirt has
/// written the bridge or interface into the live XML; names that are none for the kernel do not.
[[nodiscard]] std::vector<placement::HostInterface> host_interfaces_of(pugi::xml_node domain);

/// Mediated devices given to the guest: <hostdev type='mdev'>, in document order.
[[nodiscard]] std::vector<placement::MediatedDevice> mediated_devices_of(pugi::xml_node domain,
                                                                         XmlFields& fields);

/// Block devices of the host that are disks of the guest: the name below /dev of each
/// <disk type='block'>, CD-ROM and floppy drives left out. In document order, each once.
[[nodiscard]] std::vector<placement::HostDisk> host_disks_of(pugi::xml_node domain);

/// What pins guest memory besides PCI and mediated devices: vDPA interfaces, memory encryption.
/// Empty if nothing does.
[[nodiscard]] std::string other_memory_pin_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
