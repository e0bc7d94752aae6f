// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_devices.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "balancer/host/xml_editing.h"
#include "balancer/host/xml_fields.h"
#include "placement/model/device_names.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

/// True if the device's <source> holds the address of a host PCI device.
bool has_pci_source(pugi::xml_node device) {
  const std::string_view element = device.name();
  const pugi::xml_attribute type = device.attribute("type");
  return (element == "hostdev" && is(device.attribute("mode"), "subsystem") && is(type, "pci")) ||
         (element == "interface" && is(type, "hostdev")) || (element == "disk" && is(type, "nvme"));
}

std::int32_t address_part(pugi::xml_node address, const char* name, std::int32_t most,
                          XmlFields& fields) {
  return fields.small_number(address.attribute(name).value(),
                             fmt::format("PCI address, attribute '{}'", name), 0, most);
}

/// lspci's long form of <address domain='0x0000' bus='0x3b' slot='0x00' function='0x0'/>.
std::string address_of(pugi::xml_node address, XmlFields& fields) {
  // Of these attributes only `domain` may be omitted.
  const std::int32_t domain = address.attribute("domain") != nullptr
                                  ? address_part(address, "domain", 0xffffff, fields)
                                  : 0;
  return fmt::format(
      "{:04x}:{:02x}:{:02x}.{:x}", domain, address_part(address, "bus", 0xff, fields),
      address_part(address, "slot", 0x1f, fields), address_part(address, "function", 7, fields));
}

/// True if vhost serves the interface: it does for virtio, unless QEMU is named as the driver.
bool is_served_by_vhost(pugi::xml_node interface) {
  const std::string_view model = interface.child("model").attribute("type").value();
  return model.starts_with("virtio") && !is(interface.child("driver").attribute("name"), "qemu");
}

/// The bridge, interface or vDPA device behind an <interface>; empty if none is named.
std::string_view host_side_of(pugi::xml_node interface) {
  const pugi::xml_node source = interface.child("source");
  const std::string_view type = interface.attribute("type").value();
  if (type == "vdpa") {
    constexpr std::string_view kDevices = "/dev/";
    std::string_view device = source.attribute("dev").value();
    device.remove_prefix(device.starts_with(kDevices) ? kDevices.size() : 0);
    return device;
  }
  if ((type == "bridge" || type == "direct" || type == "network") &&
      is_served_by_vhost(interface)) {
    const char* bridge = source.attribute("bridge").value();
    return *bridge != '\0' ? bridge : source.attribute("dev").value();
  }
  return {};
}

}  // namespace

std::vector<PciDevice> pci_devices_of(pugi::xml_node domain, XmlFields& fields) {
  std::vector<PciDevice> devices;
  for (const pugi::xml_node device : domain.child("devices").children()) {
    if (!has_pci_source(device)) {
      continue;
    }
    const pugi::xml_node address = device.child("source").child("address");
    if (!address) {
      fields.complain(
          fmt::format("<{}> of a host PCI device has no source address", device.name()));
      continue;
    }
    PciDevice found{address_of(address, fields)};
    if (std::ranges::find(devices, found) == devices.end()) {
      devices.push_back(std::move(found));
    }
  }
  return devices;
}

pugi::xml_node pci_source_of(pugi::xml_node domain, std::string_view address) {
  XmlFields fields;
  for (const pugi::xml_node device : domain.child("devices").children()) {
    const pugi::xml_node source = device.child("source").child("address");
    if (has_pci_source(device) && source && address_of(source, fields) == address) {
      return source;
    }
  }
  return {};
}

void set_pci_address(pugi::xml_node element, std::string_view address) {
  set(element, "domain", fmt::format("0x{}", address.substr(0, 4)));
  set(element, "bus", fmt::format("0x{}", address.substr(5, 2)));
  set(element, "slot", fmt::format("0x{}", address.substr(8, 2)));
  set(element, "function", fmt::format("0x{}", address.substr(11, 1)));
}

std::vector<HostInterface> host_interfaces_of(pugi::xml_node domain) {
  std::vector<HostInterface> found;
  for (const pugi::xml_node interface : domain.child("devices").children("interface")) {
    const std::string_view name = host_side_of(interface);
    const bool is_known = std::ranges::find(found, name, &HostInterface::name) != found.end();
    if (is_interface_name(name) && !is_known) {
      found.push_back({std::string(name),
                       {},
                       is(interface.child("virtualport").attribute("type"), "openvswitch")});
    }
  }
  return found;
}

std::vector<MediatedDevice> mediated_devices_of(pugi::xml_node domain, XmlFields& fields) {
  std::vector<MediatedDevice> found;
  for (const pugi::xml_node device : domain.child("devices").children("hostdev")) {
    if (!is(device.attribute("mode"), "subsystem") || !is(device.attribute("type"), "mdev")) {
      continue;
    }
    const std::string_view uuid = device.child("source").child("address").attribute("uuid").value();
    if (!parse_vm_id(uuid)) {  // it becomes part of a path
      fields.complain(fmt::format("<hostdev> of a mediated device has no UUID but '{}'", uuid));
      continue;
    }
    found.push_back({std::string(uuid), {}});
  }
  return found;
}

std::vector<HostDisk> host_disks_of(pugi::xml_node domain) {
  constexpr std::string_view kDevices = "/dev/";
  std::vector<HostDisk> found;
  for (const pugi::xml_node disk : domain.child("devices").children("disk")) {
    const std::string_view use = disk.attribute("device").value();
    if (!is(disk.attribute("type"), "block") || use == "cdrom" || use == "floppy") {
      continue;
    }
    std::string_view name = disk.child("source").attribute("dev").value();
    if (!name.starts_with(kDevices)) {
      continue;
    }
    name.remove_prefix(kDevices.size());
    HostDisk host{std::string(name), {}};
    if (is_device_name(name) && std::ranges::find(found, host) == found.end()) {
      found.push_back(std::move(host));
    }
  }
  return found;
}

std::string other_memory_pin_of(pugi::xml_node domain) {
  for (const pugi::xml_node device : domain.child("devices").children()) {
    const std::string_view element = device.name();
    if (element == "interface" && is(device.attribute("type"), "vdpa")) {
      return fmt::format("vDPA device {}", device.child("source").attribute("dev").value());
    }
  }
  if (const pugi::xml_node security = domain.child("launchSecurity")) {
    return fmt::format("memory encryption {}", security.attribute("type").value());
  }
  return {};
}

}  // namespace vmnuma::balancer
