// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/description_parts.h"
#include "placement/base/number.h"
#include "placement/model/device_names.h"
#include "placement/model/text.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::string_view kDev = "/dev/";
constexpr std::int32_t kMostIoThreads = 1000;

template <class Entry>
void add_once(std::vector<Entry>& entries, Entry entry) {
  if (std::ranges::find(entries, entry) == entries.end()) {
    entries.push_back(std::move(entry));
  }
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Converts "01:00.0" or "0000:01:00.0" to lspci's long form; nothing if it is neither.
std::optional<std::string> pci_address(std::string_view text) {
  const auto take = [&text](char end, std::int32_t most) -> std::optional<std::int32_t> {
    const std::size_t at = text.find(end);
    const auto number = whole_number<std::int32_t>(text.substr(0, at), 16);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return number && *number >= 0 && *number <= most ? number : std::nullopt;
  };
  const bool has_domain = std::ranges::count(text, ':') == 2;
  const auto domain = has_domain ? take(':', 0xffffff) : 0;
  const auto bus = take(':', 0xff);
  const auto slot = take('.', 0x1f);
  const auto function = take('\0', 7);
  if (!domain || !bus || !slot || !function || !text.empty()) {
    return std::nullopt;
  }
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *slot, *function);
}

void pin_memory(DescribedVm& vm, std::string by) {
  if (vm.description.memory_pinned_by.empty()) {
    vm.description.memory_pinned_by = std::move(by);
  }
}

/// Reads -device vfio-*: named by the host's address, or by a directory in sysfs, which may be a
/// mediated device's.
void describe_vfio(const OptionGroup& device, DescribedVm& vm) {
  const auto host = device.value("host");
  const std::string_view directory = device.value("sysfsdev").value_or("");
  const std::string_view named = host ? *host : last_part(directory);
  if (const auto address = pci_address(named)) {
    add_once(vm.description.pci_devices, PciDevice{*address, {}});
  } else if (const auto uuid = parse_vm_id(named)) {
    add_once(vm.description.mediated_devices, MediatedDevice{to_text(*uuid), {}});
  } else {
    pin_memory(vm, fmt::format("device {}", device.value("driver").value_or("")));
  }
}

void describe_netdev(const OptionGroup& netdev, DescribedVm& vm) {
  const std::string_view type = netdev.value("type").value_or("");
  std::string_view name;
  if (type == "vhost-vdpa") {
    name = last_part(netdev.value("vhostdev").value_or(""));
    pin_memory(vm, fmt::format("vDPA device {}", name));
  } else if (type == "tap" && netdev.is_on("vhost")) {
    name = netdev.value("ifname").value_or("");
  }
  if (is_interface_name(name)) {
    add_once(vm.description.host_interfaces, HostInterface{std::string(name), {}});
  }
}

/// Reads the files below /dev of -drive and -blockdev: those in "file" or "filename" at any depth,
/// with the driver at the same level.
void describe_disk(const OptionGroup& disk, DescribedVm& vm) {
  if (disk.is("media", "cdrom")) {
    return;
  }
  for (const Setting& setting : disk.settings) {
    const std::string_view key = setting.key;
    const std::string_view prefix = key.substr(0, key.rfind('.') + 1);
    const std::string_view last = key.substr(prefix.size());
    std::string_view file = setting.value;
    if ((last != "file" && last != "filename") || !file.starts_with(kDev)) {
      continue;
    }
    file.remove_prefix(kDev.size());
    const std::string driver = std::string(prefix) + "driver";
    if (!disk.is(driver, "host_cdrom") && !file.starts_with("fd/") && is_device_name(file)) {
      add_once(vm.description.host_disks, HostDisk{std::string(file), {}});
    }
  }
}

void describe_object(const OptionGroup& object, DescribedVm& vm) {
  const std::string_view type = object.value("qom-type").value_or("");
  if (type == "iothread" && vm.io_thread_names.size() < kMostIoThreads) {
    vm.io_thread_names.emplace_back(object.value("id").value_or(""));
    vm.description.io_threads.push_back(static_cast<std::int32_t>(vm.io_thread_names.size()));
  } else if (type.ends_with("-guest")) {  // sev-guest, sev-snp-guest, tdx-guest, s390-pv-guest
    pin_memory(vm, fmt::format("memory encryption {}",
                               type.substr(0, type.size() - std::string_view("-guest").size())));
  }
}

}  // namespace

void describe_devices(const CommandLine& line, DescribedVm& vm) {
  for (const OptionGroup& group : line.options) {
    if (group.name == "device" && group.value("driver").value_or("").starts_with("vfio-")) {
      describe_vfio(group, vm);
    } else if (group.name == "netdev") {
      describe_netdev(group, vm);
    } else if (group.name == "drive" || group.name == "blockdev") {
      describe_disk(group, vm);
    } else if (group.name == "object") {
      describe_object(group, vm);
    }
  }
}

}  // namespace vmnuma::balancer::qemu
