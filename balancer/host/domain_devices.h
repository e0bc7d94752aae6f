// SPDX-License-Identifier: Apache-2.0
/// The devices of a domain that tie its memory or its place to the host.
///
/// Problem: a device with direct access to guest memory pins that memory where it is, and it sits
/// on a node of its own; libvirt spells such devices in half a dozen ways. Approach: collect the
/// PCI addresses from every spelling, and name what else pins memory.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

#include "balancer/host/xml_fields.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Host PCI devices given to the guest: <hostdev type='pci'>, <interface type='hostdev'> and
/// <disk type='nvme'>, in document order, each once.
[[nodiscard]] std::vector<placement::PciDevice> pci_devices_of(pugi::xml_node domain,
                                                               XmlFields& fields);

/// What pins guest memory besides PCI devices: mediated devices, vDPA interfaces, memory
/// encryption. Empty if nothing does.
[[nodiscard]] std::string other_memory_pin_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
