// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_xml.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/host/domain_devices.h"
#include "balancer/host/domain_document.h"
#include "balancer/host/domain_memory.h"
#include "balancer/host/domain_metadata.h"
#include "balancer/host/domain_policy.h"
#include "balancer/host/xml_fields.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

/// QEMU's largest machine type has 4096 vCPUs (q35 in QEMU 9; 288 in 7.2).
constexpr std::int32_t kMostVcpus = 4096;
/// More than QEMU can use; keeps a bogus count from using memory.
constexpr std::int32_t kMostIoThreads = 1024;
constexpr std::int32_t kMostCells = 1024;
constexpr std::size_t kMostQuotedName = 100;

void read_vcpus(pugi::xml_node domain, VmDescription& vm, XmlFields& fields) {
  const pugi::xml_node vcpu = domain.child("vcpu");
  vm.placement_auto = std::string_view(vcpu.attribute("placement").value()) == "auto";
  vm.max_vcpus = vcpu ? fields.small_number(vcpu.text().get(), "<vcpu>", 1, kMostVcpus) : 1;
  if (const pugi::xml_node list = domain.child("vcpus")) {
    std::set<std::int32_t> online;
    for (const pugi::xml_node one : list.children("vcpu")) {
      const std::int32_t id =
          fields.small_number(one.attribute("id").value(), "<vcpus> id", 0, vm.max_vcpus - 1);
      if (std::string_view(one.attribute("enabled").value()) == "yes" &&
          !online.insert(id).second) {
        fields.complain(fmt::format("<vcpus> has vCPU {} twice", id));
      }
    }
    vm.vcpus.assign(online.begin(), online.end());
    return;
  }
  const pugi::xml_attribute current = vcpu.attribute("current");
  const std::int32_t count =
      current ? fields.small_number(current.value(), "<vcpu> current", 1, vm.max_vcpus)
              : vm.max_vcpus;
  for (std::int32_t id = 0; id < count; ++id) {
    vm.vcpus.push_back(id);
  }
}

void read_topology(pugi::xml_node cpu, VmDescription& vm, XmlFields& fields) {
  const pugi::xml_node topology = cpu.child("topology");
  if (!topology) {
    return;
  }
  const auto part = [&](const char* name) {
    return fields.small_number(topology.attribute(name).value(), fmt::format("<topology> {}", name),
                               1, kMostVcpus);
  };
  vm.sockets = part("sockets");
  vm.dies = topology.attribute("dies") ? part("dies") : 1;
  vm.cores = part("cores");
  vm.threads = part("threads");
}

/// Reads the cells. A cell without an id has its position as id (virDomainNumaDefParseXML,
/// conf/numa_conf.c, 9.0), and vCPUs without a cell belong to the first one
/// (qemuDomainDefNumaCPUsRectify, qemu/qemu_domain.c, 9.0).
void read_cells(pugi::xml_node cpu, VmDescription& vm, XmlFields& fields) {
  std::set<std::int32_t> cell_ids;
  std::set<std::int32_t> taken;
  std::int32_t place = 0;
  for (const pugi::xml_node node : cpu.child("numa").children("cell")) {
    GuestCell cell;
    const pugi::xml_attribute id = node.attribute("id");
    cell.id = fields.small_number(id ? id.value() : std::to_string(place), "<cell> id", 0,
                                  kMostCells - 1);
    ++place;
    if (!cell_ids.insert(cell.id).second) {
      fields.complain(fmt::format("guest NUMA cell {} is declared twice", cell.id));
      return;
    }
    const std::string what = fmt::format("guest NUMA cell {}", cell.id);
    cell.memory =
        fields.size(node.attribute("memory").value(), node.attribute("unit").value(), what);
    for (const CpuId vcpu : fields.cpus(node.attribute("cpus").value(), what)) {
      if (vcpu.value >= vm.max_vcpus || !taken.insert(vcpu.value).second) {
        fields.complain(
            fmt::format("{}: vCPU {} does not exist or is in another cell", what, vcpu.value));
        return;
      }
      cell.vcpus.push_back(vcpu.value);
    }
    vm.memory_shared |= std::string_view(node.attribute("memAccess").value()) == "shared";
    vm.cells.push_back(std::move(cell));
  }
  std::ranges::sort(vm.cells, {}, &GuestCell::id);
  if (vm.cells.empty()) {
    return;
  }
  std::vector<std::int32_t>& first = vm.cells.front().vcpus;
  for (std::int32_t vcpu = 0; vcpu < vm.max_vcpus; ++vcpu) {
    if (!taken.contains(vcpu)) {
      first.push_back(vcpu);
    }
  }
  std::ranges::sort(first);
}

/// Reads the I/O threads. <iothreads> contains their number, <iothreadids> the ids that do not
/// simply count from 1; libvirt gives the rest the lowest free ids (virDomainDefParseIOThreads).
void read_io_threads(pugi::xml_node domain, VmDescription& vm, XmlFields& fields) {
  std::set<std::int32_t> ids;
  for (const pugi::xml_node thread : domain.child("iothreadids").children("iothread")) {
    const std::int32_t id = fields.small_number(thread.attribute("id").value(), "<iothread> id", 1,
                                                std::numeric_limits<std::int32_t>::max());
    if (!ids.insert(id).second || ids.size() > kMostIoThreads) {
      fields.complain(fmt::format("I/O thread {} is declared twice or one too many", id));
      return;
    }
  }
  if (const pugi::xml_node total = domain.child("iothreads")) {
    const std::int32_t count =
        fields.small_number(total.text().get(), "<iothreads>", 0, kMostIoThreads);
    for (std::int32_t id = 1; ids.size() < static_cast<std::size_t>(count); ++id) {
      ids.insert(id);
    }
  }
  vm.io_threads.assign(ids.begin(), ids.end());
}

/// Reads <vcpupin vcpu= cpuset=> and similar. The threads in `numbers` may be pinned, each at most
/// once.
std::vector<Pin> read_pins(pugi::xml_node cputune, const char* element, const char* number_name,
                           std::set<std::int32_t> numbers, XmlFields& fields) {
  std::vector<Pin> pins;
  for (const pugi::xml_node node : cputune.children(element)) {
    const std::string what = fmt::format("<{}>", element);
    const std::int32_t number = fields.small_number(node.attribute(number_name).value(), what, 0,
                                                    std::numeric_limits<std::int32_t>::max());
    if (numbers.erase(number) == 0) {
      fields.complain(
          fmt::format("{}: {} {} does not exist or is pinned twice", what, number_name, number));
      return {};
    }
    pins.push_back({number, fields.cpus(node.attribute("cpuset").value(), what)});
  }
  return pins;
}

/// Adds `cpus` as the pin of each thread in `numbers` that has none.
void add_default_pins(const std::vector<std::int32_t>& numbers, const std::vector<CpuId>& cpus,
                      std::vector<Pin>& pins) {
  std::set<std::int32_t> pinned;
  for (const Pin& pin : pins) {
    pinned.insert(pin.number);
  }
  for (const std::int32_t number : numbers) {
    if (!pinned.contains(number)) {
      pins.push_back({number, cpus});
    }
  }
}

void read_pins(pugi::xml_node domain, VmDescription& vm, XmlFields& fields) {
  const pugi::xml_node cputune = domain.child("cputune");
  std::set<std::int32_t> vcpus;  // including unplugged ones
  for (std::int32_t vcpu = 0; vcpu < vm.max_vcpus; ++vcpu) {
    vcpus.insert(vcpu);
  }
  vm.vcpu_pins = read_pins(cputune, "vcpupin", "vcpu", std::move(vcpus), fields);
  vm.io_thread_pins = read_pins(cputune, "iothreadpin", "iothread",
                                {vm.io_threads.begin(), vm.io_threads.end()}, fields);
  vm.emulator_pin =
      fields.cpus(cputune.child("emulatorpin").attribute("cpuset").value(), "<emulatorpin>");
  // <vcpu cpuset=> applies to every thread without a pin of its own.
  vm.default_pin = fields.cpus(domain.child("vcpu").attribute("cpuset").value(), "<vcpu> cpuset");
  if (const std::vector<CpuId>& common = vm.default_pin; !common.empty()) {
    add_default_pins(vm.vcpus, common, vm.vcpu_pins);
    add_default_pins(vm.io_threads, common, vm.io_thread_pins);
    if (vm.emulator_pin.empty()) {
      vm.emulator_pin = common;
    }
  }
  std::ranges::sort(vm.vcpu_pins, {}, &Pin::number);
  std::ranges::sort(vm.io_thread_pins, {}, &Pin::number);
}

void read_identity(pugi::xml_node domain, VmDescription& vm, XmlFields& fields) {
  vm.name = domain.child("name").text().get();
  if (vm.name.empty()) {
    fields.complain("it has no <name>");
  }
  if (!domain.child("uuid")) {
    fields.complain("it has no <uuid>");
  } else if (auto id = parse_vm_id(domain.child("uuid").text().get())) {
    vm.id = *id;
  } else {
    fields.complain(fmt::format("<uuid>: {}", id.error().message));
  }
  if (const pugi::xml_attribute running_id = domain.attribute("id")) {
    vm.domain_id = fields.small_number(running_id.value(), "<domain> id", 0,
                                       std::numeric_limits<std::int32_t>::max());
  }
}

}  // namespace

Result<VmDescription> parse_domain_xml(std::string_view xml, Bytes default_huge_page_size) {
  pugi::xml_document document;
  VMNUMA_ASSIGN_OR_RETURN(const auto loaded,
                          load_domain_document(xml, pugi::parse_default, document));
  const pugi::xml_node domain = loaded;

  VmDescription vm;
  XmlFields fields;
  read_identity(domain, vm, fields);
  read_vcpus(domain, vm, fields);
  read_topology(domain.child("cpu"), vm, fields);
  read_cells(domain.child("cpu"), vm, fields);
  read_memory(domain, default_huge_page_size, vm, fields);
  read_io_threads(domain, vm, fields);
  read_pins(domain, vm, fields);
  vm.pci_devices = pci_devices_of(domain, fields);
  vm.mediated_devices = mediated_devices_of(domain, fields);
  vm.host_interfaces = host_interfaces_of(domain);
  vm.host_disks = host_disks_of(domain);
  vm.memory_pinned_by = other_memory_pin_of(domain);
  vm.own_policy = policy_settings_of(domain);
  vm.guest_os = guest_os_of(domain);
  vm.nova_project = nova_project_of(domain);
  vm.partition = domain.child("resource").child("partition").text().get();
  if (fields.complaint()) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("domain XML of '{}': {}", vm.name.substr(0, kMostQuotedName),
                               *fields.complaint()));
  }
  return vm;
}

}  // namespace vmnuma::balancer
