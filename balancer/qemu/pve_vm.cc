// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/pve_vm.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/command_line.h"
#include "balancer/qemu/description_parts.h"
#include "balancer/qemu/host_facts.h"
#include "placement/base/number.h"
#include "placement/model/device_names.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::int64_t kUsualMemory_mib = 512;
constexpr std::int64_t kMost = 1 << 24U;  ///< for any number here
constexpr std::int64_t kMostCells = 8;
constexpr std::int64_t kGibPages_mib = 1024;
constexpr std::string_view kHugePages = "/run/hugepages/kvm/";  // and "2048kB"

/// Doubles commas in a value.
std::string escaped(std::string_view text) {
  std::string doubled;
  for (const char character : text) {
    doubled.append(character == ',' ? 2 : 1, character);
  }
  return doubled;
}

std::optional<std::int64_t> number(std::string_view text) {
  const auto read = whole_number<std::int64_t>(text);
  return read && *read > 0 && *read <= kMost ? read : std::nullopt;
}

std::int64_t number_or(std::string_view text, std::int64_t usually) {
  return number(text).value_or(usually);
}

/// Makes ",cpus=0-3,cpus=8" from "0-3;8".
std::string each(std::string_view key, std::string_view list) {
  std::string text;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(';'), list.size());
    text += fmt::format(",{}={}", key, escaped(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return text;
}

/// The command line of one VM.
class VmOptions {
 public:
  VmOptions(const PveConfig& config, std::int32_t vmid, const PveHost& host)
      : config_(config), host_(host) {
    const std::string_view name = config.value("name");
    add("-name", "guest=" + (name.empty() ? fmt::format("vm{}", vmid) : escaped(name)));
    const auto smbios = parse_settings(config.value("smbios1"), "");
    if (const auto uuid = value_of(smbios, "uuid"); !uuid.empty()) {
      add("-smbios", fmt::format("type=1,uuid={}", escaped(uuid)));
    }
    add_cpus();
    add_memory();
    add_pci_devices();
  }
  /// QEMU's arguments, as in /proc/PID/cmdline.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(std::string_view option, std::string_view value) {
    for (const std::string_view word : {option, value}) {
      text_.append(word).push_back('\0');
    }
  }

  void add_cpus() {
    sockets_ = number_or(config_.value("sockets"), 1);
    cores_ = number_or(config_.value("cores"), 1);
    const std::int64_t most = std::min(sockets_ * cores_, kMost);
    const std::int64_t vcpus = std::min(number_or(config_.value("vcpus"), most), most);
    add("-smp", fmt::format("{},sockets={},cores={},maxcpus={}", vcpus, sockets_, cores_, most));
  }

  void add_memory() {
    // Since Proxmox VE 8 "current=4096" is possible, too.
    const auto settings = parse_settings(config_.value("memory"), "current");
    const std::int64_t memory_mib = number_or(value_of(settings, "current"), kUsualMemory_mib);
    add("-m", std::to_string(memory_mib));
    if (config_.value("numa") != "1") {
      return;
    }
    bool has_cells = false;
    for (std::int64_t cell = 0; cell < kMostCells; ++cell) {
      const auto numa = parse_settings(config_.value(fmt::format("numa{}", cell)), "cpus");
      const auto mib = number(value_of(numa, "memory"));
      if (!mib) {
        continue;
      }
      has_cells = true;
      std::string binding;
      if (const auto nodes = value_of(numa, "hostnodes"); !nodes.empty()) {
        binding = each("host-nodes", nodes) +
                  fmt::format(",policy={}", escaped(value_of(numa, "policy")));
      }
      add_cell(cell, *mib, each("cpus", value_of(numa, "cpus")), binding);
    }
    for (std::int64_t cell = 0; !has_cells && cell < std::min(sockets_, kMostCells); ++cell) {
      add_cell(cell, memory_mib / sockets_,
               fmt::format(",cpus={}-{}", cores_ * cell, cores_ * (cell + 1) - 1), "");
    }
  }

  void add_cell(std::int64_t cell, std::int64_t mib, const std::string& cpus,
                const std::string& binding) {
    const std::string_view pages = config_.value("hugepages");
    std::string object = "memory-backend-ram";
    std::string path;
    if (!pages.empty()) {
      const bool gib =
          pages == "1024" || (pages == "any" && host_.has_gib_pages && mib % kGibPages_mib == 0);
      object = "memory-backend-file";
      path = fmt::format(",mem-path={}{}", kHugePages, gib ? "1048576kB" : "2048kB");
    }
    add("-object", fmt::format("{},id=ram-node{},size={}M{}{}", object, cell, mib, path, binding));
    add("-numa", fmt::format("node,nodeid={0}{1},memdev=ram-node{0}", cell, cpus));
  }

  void add_pci_devices() {
    for (const Setting& setting : config_.settings) {
      if (!setting.key.starts_with("hostpci")) {
        continue;
      }
      const auto device = parse_settings(setting.value, "host");
      std::string_view hosts = value_of(device, "host");
      while (!hosts.empty() && value_of(device, "mdev").empty()) {
        const std::size_t end = std::min(hosts.find(';'), hosts.size());
        const std::string_view host = hosts.substr(0, end);
        // All functions of a device are on the same node.
        add("-device", fmt::format("vfio-pci,host={}{}", escaped(host),
                                   host.find('.') == std::string_view::npos ? ".0" : ""));
        hosts.remove_prefix(std::min(end + 1, hosts.size()));
      }
    }
  }

  const PveConfig& config_;
  const PveHost& host_;
  std::int64_t sockets_ = 1;
  std::int64_t cores_ = 1;
  std::string text_{"/usr/bin/kvm\0", 13};
};

/// Adds bridges of adapters whose packets the kernel handles,
/// "virtio=12:34:56:78:9A:BC,bridge=vmbr0".
void add_bridges(const PveConfig& config, VmDescription& vm) {
  for (const Setting& setting : config.settings) {
    if (!setting.key.starts_with("net")) {
      continue;
    }
    const auto adapter = parse_settings(setting.value, "model");
    const std::string bridge(value_of(adapter, "bridge"));
    const bool is_known = std::ranges::find(vm.host_interfaces, bridge, &HostInterface::name) !=
                          vm.host_interfaces.end();
    if (!is_known && is_interface_name(bridge) &&
        (!value_of(adapter, "virtio").empty() || value_of(adapter, "model") == "virtio")) {
      vm.host_interfaces.push_back({bridge, {}});
    }
  }
}

}  // namespace

VmDescription describe_pve(const PveConfig& config, std::int32_t vmid, const PveHost& host) {
  const HostFacts facts{{{std::string(kHugePages) + "2048kB", kMiB * 2},
                         {std::string(kHugePages) + "1048576kB", kGiB}},
                        host.default_huge_page_size};
  DescribedVm vm = describe(parse_command_line(VmOptions(config, vmid, host).text()), facts);
  if (vm.description.name.empty()) {
    vm.description.name = fmt::format("vm{}", vmid);
  }
  vm.description.id = id_of(vm);
  vm.description.domain_id = -1;
  vm.description.own_policy = policy_of(config);
  vm.description.memory_nodes_fixed = true;
  add_bridges(config, vm.description);
  return std::move(vm.description);
}

Result<VmDescription> read_pve_vm(const files::Directory& root, std::int32_t vmid) {
  VMNUMA_ASSIGN_OR_RETURN(const auto config, read_pve_config(root, vmid));
  const PveHost host{read_host_facts(root).default_huge_page_size,
                     root.directory("sys/kernel/mm/hugepages/hugepages-1048576kB").has_value()};
  return describe_pve(config, vmid, host);
}

}  // namespace vmnuma::balancer::qemu
