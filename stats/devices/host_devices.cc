// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/host_devices.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "placement/base/number.h"
#include "stats/devices/ovs_database.h"
#include "stats/files/read_parsed.h"

namespace vmnuma::stats {
namespace {

constexpr std::string_view kOvsDatabase = "run/openvswitch/db.sock";
constexpr std::string_view kLower = "lower_";
// A bridge on a VLAN on a bond is three steps; the kernel allows eight (MAX_NEST_DEV). Block
// devices are not stacked higher either.
constexpr int kMostSteps = 8;
// A disk behind two SAS expanders is nine levels below its controller.
constexpr int kMostAncestors = 12;

/// Returns the carrier of a device in sysfs: the device itself or, for virtio, USB and similar
/// devices without a numa_node of their own, the nearest ancestor that has one.
Carrier carrier_at(const files::Directory& root, const std::string& device) {
  std::string ancestor = device;
  for (int i = 0; i < kMostAncestors; ++i, ancestor += "/..") {
    if (const auto text = root.read(ancestor + "/numa_node")) {
      return {ancestor, parse_numa_node(*text).value_or(NodeId{})};
    }
  }
  return {device, {}};
}

/// Empty if there is no such device.
std::vector<Carrier> carrier_of(const files::Directory& root, const std::string& device) {
  return root.directory(device) ? std::vector{carrier_at(root, device)} : std::vector<Carrier>{};
}

/// Collects the carriers of devices that are stacked on others of their kind. Visits each device
/// once.
class Walk {
 public:
  explicit Walk(const files::Directory& root) : root_(root) {}

  void add_interface(const std::string& name, int steps = 0) {
    const std::string directory = "sys/class/net/" + name;
    if (steps > kMostSteps || !seen_.insert(name).second || !root_.directory(directory)) {
      return;
    }
    if (root_.directory(directory + "/device")) {
      carriers_.push_back(carrier_at(root_, directory + "/device"));
      return;
    }
    for (const std::string& entry : names_in(root_, directory)) {
      if (entry.starts_with(kLower)) {
        add_interface(entry.substr(kLower.size()), steps + 1);
      }
    }
  }

  void add_disk(const std::string& name, int steps = 0) {
    const std::string directory = "sys/class/block/" + name;
    if (steps > kMostSteps || !seen_.insert(name).second) {
      return;
    }
    const std::vector<std::string> slaves = names_in(root_, directory + "/slaves");
    for (const std::string& slave : slaves) {
      add_disk(slave, steps + 1);
    }
    if (slaves.empty()) {
      const bool is_part = root_.read(directory + "/partition").has_value();
      add_controllers(directory + (is_part ? "/../device" : "/device"));
    }
  }

  [[nodiscard]] std::vector<Carrier> carriers() && { return std::move(carriers_); }

 private:
  /// A multipath NVMe namespace is below its subsystem, which links to the controllers
  /// (drivers/nvme/host/core.c, nvme_init_subsystem, Linux 6.1).
  void add_controllers(const std::string& device) {
    bool several = false;
    for (const std::string& name : names_in(root_, device)) {
      constexpr std::string_view kController = "nvme";
      if (name.size() > kController.size() && name.starts_with(kController) &&
          name.find_first_not_of("0123456789", kController.size()) == std::string::npos) {
        carriers_.push_back(carrier_at(root_, fmt::format("{}/{}", device, name)));
        several = true;
      }
    }
    if (!several && root_.directory(device)) {
      carriers_.push_back(carrier_at(root_, device));
    }
  }

  const files::Directory& root_;
  std::set<std::string> seen_;
  std::vector<Carrier> carriers_;
};

/// Returns the bus device that owns the character device of this name; empty if there is none.
std::string vdpa_device(const files::Directory& root, const std::string& name) {
  const std::string bus = "sys/bus/vdpa/devices";
  for (const std::string& device : names_in(root, bus)) {
    std::string path = fmt::format("{}/{}", bus, device);
    if (root.directory(fmt::format("{}/{}", path, name))) {
      return path;
    }
  }
  return {};
}

template <class Devices>
void fill_in_nodes(HostDevices& host, Devices& devices) {
  for (auto& device : devices) {
    device.node = common_node(host.of(device));
  }
}

}  // namespace

Result<NodeId> parse_numa_node(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('\n')) {
    number.remove_suffix(1);
  }
  const auto node = whole_number<std::int32_t>(number);
  if (!node || *node < -1) {
    return failure(ErrorCode::kCorrupt, "'" + std::string(text) + "' is no node of a device");
  }
  return NodeId{*node};
}

NodeId common_node(std::span<const Carrier> carriers) {
  const bool is_one = !carriers.empty() &&
                      std::all_of(carriers.begin(), carriers.end(), [&](const Carrier& carrier) {
                        return carrier.node == carriers.front().node;
                      });
  return is_one ? carriers.front().node : NodeId{};
}

std::vector<Carrier> HostDevices::of(const PciDevice& device) const {
  return carrier_of(root_, "sys/bus/pci/devices/" + device.address);
}

std::vector<Carrier> HostDevices::of(const MediatedDevice& device) const {
  return carrier_of(root_, "sys/bus/mdev/devices/" + device.uuid + "/..");
}

std::vector<Carrier> HostDevices::of(const HostInterface& interface) {
  const auto [known, is_new] = interfaces_.try_emplace(interface.name);
  if (!is_new) {
    return known->second;
  }
  if (const std::string vdpa = vdpa_device(root_, interface.name); !vdpa.empty()) {
    return known->second = carrier_of(root_, vdpa);
  }
  Walk walk(root_);
  if (interface.is_open_vswitch) {
    for (const std::string& below : interfaces_below_switch(interface.name)) {
      walk.add_interface(below);
    }
  } else {
    walk.add_interface(interface.name);
  }
  return known->second = std::move(walk).carriers();
}

std::vector<std::string> HostDevices::interfaces_below_switch(const std::string& bridge) {
  if (!switch_) {
    switch_ = ask_ovs_database(root_.path_of(kOvsDatabase), patience_)
                  .and_then([](const std::string& answer) { return parse_ovs_answer(answer); });
  }
  // All ports of all bridges are below the datapath (ovs_netdev_link, net/openvswitch/
  // vport-netdev.c, Linux 6.1).
  return *switch_ ? (*switch_)->adapters_below(bridge) : std::vector<std::string>{"ovs-system"};
}

std::vector<Carrier> HostDevices::of(const HostDisk& disk) {
  Walk walk(root_);
  for (const std::string& name : block_devices_named(disk.name)) {
    walk.add_disk(name);
  }
  return std::move(walk).carriers();
}

std::set<std::string> HostDevices::block_devices_named(const std::string& name) {
  // The kernel's name for it, with '!' for '/' (device_get_devnode and kobject_set_name_vargs).
  std::string own = name;
  std::replace(own.begin(), own.end(), '/', '!');
  if (root_.directory("sys/class/block/" + own)) {
    return {own};
  }
  if (!block_links_) {
    block_links_.emplace();
    for (const std::string& device : names_in(root_, "sys/class/block")) {
      const std::string number = first_line_of(root_, "sys/class/block/" + device + "/dev");
      const std::string data = root_.read("run/udev/data/b" + number).value_or("");
      std::string_view left = data;
      while (!left.empty()) {
        const std::string_view line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(line.size() + 1, left.size()));
        if (line.starts_with("S:")) {
          (*block_links_)[std::string(line.substr(2))].insert(device);
        }
      }
    }
  }
  const auto found = block_links_->find(name);
  return found == block_links_->end() ? std::set<std::string>{} : found->second;
}

void read_device_nodes(const files::Directory& root, std::span<VmDescription> vms,
                       std::chrono::milliseconds patience) {
  HostDevices host(root, patience);
  for (VmDescription& vm : vms) {
    fill_in_nodes(host, vm.pci_devices);
    fill_in_nodes(host, vm.mediated_devices);
    fill_in_nodes(host, vm.host_interfaces);
    fill_in_nodes(host, vm.host_disks);
  }
}

}  // namespace vmnuma::stats
