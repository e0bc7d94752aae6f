// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/pve_vm.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

std::optional<std::int64_t> number(std::string_view text) {
  const auto read = whole_number<std::int64_t>(text);
  return read && *read > 0 && *read <= kMost ? read : std::nullopt;
}

std::int64_t number_or(std::string_view text, std::int64_t usually) {
  return number(text).value_or(usually);
}

/// "0-3" and "8" of "0-3;8".
std::vector<std::string> parts_of(std::string_view list) {
  constexpr std::size_t kMostParts = 4096;
  std::vector<std::string> parts;
  while (!list.empty() && parts.size() < kMostParts) {
    const std::size_t end = std::min(list.find(';'), list.size());
    parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// The command line of one VM.
class VmOptions {
 public:
  VmOptions(const PveConfig& config, std::int32_t vmid, const PveHost& host)
      : config_(config), host_(host) {
    // An argument of a program ends at a zero byte.
    const std::string name(config.value("name").substr(0, config.value("name").find('\0')));
    add("name", {{"guest", name.empty() ? fmt::format("vm{}", vmid) : name}});
    const auto smbios = parse_settings(config.value("smbios1"), "");
    if (const auto uuid = value_of(smbios, "uuid"); !uuid.empty()) {
      add("smbios", {{"uuid", std::string(uuid)}});
    }
    add_cpus();
    add_memory();
    add_pci_devices();
  }
  [[nodiscard]] const CommandLine& line() const { return line_; }

 private:
  void add(std::string_view option, std::vector<Setting> settings) {
    line_.options.push_back({std::string(option), std::move(settings)});
  }

  void add_cpus() {
    sockets_ = number_or(config_.value("sockets"), 1);
    cores_ = number_or(config_.value("cores"), 1);
    const std::int64_t most = std::min(sockets_ * cores_, kMost);
    const std::int64_t vcpus = std::min(number_or(config_.value("vcpus"), most), most);
    add("smp", {{"cpus", std::to_string(vcpus)},
                {"sockets", std::to_string(sockets_)},
                {"cores", std::to_string(cores_)},
                {"maxcpus", std::to_string(most)}});
  }

  void add_memory() {
    // Since Proxmox VE 8 "current=4096" is possible, too.
    const auto settings = parse_settings(config_.value("memory"), "current");
    const std::int64_t memory_mib = number_or(value_of(settings, "current"), kUsualMemory_mib);
    add("m", {{"size", std::to_string(memory_mib)}});
    if (config_.value("numa") != "1") {
      return;
    }
    bool has_cells = false;
    for (std::int64_t cell = 0; cell < kMostCells; ++cell) {
      const auto numa = parse_settings(config_.value(fmt::format("numa{}", cell)), "cpus");
      if (const auto mib = number(value_of(numa, "memory"))) {
        has_cells = true;
        add_cell(cell, *mib, parts_of(value_of(numa, "cpus")), numa);
      }
    }
    for (std::int64_t cell = 0; !has_cells && cell < std::min(sockets_, kMostCells); ++cell) {
      add_cell(cell, memory_mib / sockets_,
               {fmt::format("{}-{}", cores_ * cell, cores_ * (cell + 1) - 1)}, {});
    }
  }

  /// `numa` may bind the cell's memory.
  void add_cell(std::int64_t cell, std::int64_t mib, const std::vector<std::string>& cpus,
                const std::vector<Setting>& numa) {
    const std::string_view pages = config_.value("hugepages");
    const std::string id = fmt::format("ram-node{}", cell);
    std::vector<Setting> backend{
        {"qom-type", pages.empty() ? "memory-backend-ram" : "memory-backend-file"},
        {"id", id},
        {"size", fmt::format("{}M", mib)}};
    if (!pages.empty()) {
      const bool gib =
          pages == "1024" || (pages == "any" && host_.has_gib_pages && mib % kGibPages_mib == 0);
      backend.push_back(
          {"mem-path", fmt::format("{}{}", kHugePages, gib ? "1048576kB" : "2048kB")});
    }
    for (std::string& nodes : parts_of(value_of(numa, "hostnodes"))) {
      backend.push_back({"host-nodes", std::move(nodes)});
    }
    if (!value_of(numa, "hostnodes").empty()) {
      backend.push_back({"policy", std::string(value_of(numa, "policy"))});
    }
    add("object", std::move(backend));
    std::vector<Setting> node{{"type", "node"}, {"nodeid", std::to_string(cell)}, {"memdev", id}};
    for (const std::string& range : cpus) {
      node.push_back({"cpus", range});
    }
    add("numa", std::move(node));
  }

  void add_pci_devices() {
    for (const Setting& setting : config_.settings) {
      const auto device = parse_settings(setting.value, "host");
      if (!setting.key.starts_with("hostpci") || !value_of(device, "mdev").empty()) {
        continue;
      }
      for (const std::string& host : parts_of(value_of(device, "host"))) {
        // All functions of a device are on the same node.
        const bool is_whole = host.find('.') == std::string::npos;
        add("device", {{"driver", "vfio-pci"}, {"host", host + (is_whole ? ".0" : "")}});
      }
    }
  }

  const PveConfig& config_;
  const PveHost& host_;
  std::int64_t sockets_ = 1;
  std::int64_t cores_ = 1;
  CommandLine line_;
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
  DescribedVm vm = describe(VmOptions(config, vmid, host).line(), facts);
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
