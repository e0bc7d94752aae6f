// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/advise_xml.h"

#include <algorithm>
#include <initializer_list>
#include <pugixml.hpp>
#include <vector>

#include <fmt/format.h>

#include "balancer/host/domain_devices.h"
#include "balancer/host/domain_document.h"
#include "balancer/host/domain_xml.h"
#include "balancer/host/xml_editing.h"
#include "balancer/host/xml_fields.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

/// True for a disk that an I/O thread can serve: virtio-blk.
bool is_virtio_disk(pugi::xml_node disk) {
  return is(disk.child("target").attribute("bus"), "virtio") &&
         !is(disk.attribute("type"), "vhostuser");
}

std::string kib_text(Bytes bytes) {
  return fmt::format("{}", bytes.value / kKiB.value);
}

/// The attribute's value if it is the same for all cells, otherwise nothing.
std::string common_attribute(pugi::xml_node numa, const char* name) {
  const std::string value = numa.child("cell").attribute(name).value();
  const auto cells = numa.children("cell");
  return std::all_of(cells.begin(), cells.end(),
                     [&](pugi::xml_node cell) { return is(cell.attribute(name), value); })
             ? value
             : "";
}

class Writer {
 public:
  Writer(pugi::xml_node domain, const Advice& advice) : domain_(domain), advice_(advice) {}

  Result<void> write() {
    pugi::xml_node cpu = domain_.child("cpu");
    write_topology(cpu);
    write_cache(domain_.child("cpu"));
    VMNUMA_RETURN_IF_ERROR(write_cells(domain_.child("cpu")));
    write_start();
    write_numatune();
    write_io_threads();
    write_devices();
    if (fields_.complaint()) {
      return failure(ErrorCode::kInvalidArgument, "domain XML: " + *fields_.complaint());
    }
    return {};
  }

 private:
  /// Adds a child of the domain after the first of these that it has, otherwise as the last one.
  pugi::xml_node add_after(std::initializer_list<const char*> siblings, const char* name) {
    for (const char* before : siblings) {
      if (const pugi::xml_node sibling = domain_.child(before)) {
        return add_line_after(sibling, name);
      }
    }
    return add_line(domain_, name);
  }

  void write_topology(pugi::xml_node cpu) {
    if (!cpu) {
      cpu = add_after({"features", "os", "vcpu"}, "cpu");
    }
    pugi::xml_node topology = cpu.child("topology");
    if (!topology) {
      const pugi::xml_node model = cpu.child("vendor") ? cpu.child("vendor") : cpu.child("model");
      const pugi::xml_node numa = cpu.child("numa");
      topology = model  ? add_line_after(model, "topology")
                 : numa ? insert_before(numa, "topology")
                        : add_line(cpu, "topology");
    }
    set(topology, "sockets", fmt::format("{}", advice_.sockets));
    // Attributes unknown to older libvirt versions are 1 if absent.
    for (const auto& [name, value] : {std::pair("dies", advice_.dies), std::pair("clusters", 1)}) {
      if (topology.attribute(name) || value != 1) {
        set(topology, name, fmt::format("{}", value));
      }
    }
    set(topology, "cores", fmt::format("{}", advice_.cores));
    set(topology, "threads", fmt::format("{}", advice_.threads));
  }

  static pugi::xml_node insert_before(pugi::xml_node sibling, const char* name) {
    pugi::xml_node parent = sibling.parent();
    const pugi::xml_node inserted = parent.insert_child_before(name, sibling);
    const pugi::xml_node blanks = inserted.previous_sibling();
    if (blanks.type() == pugi::node_pcdata) {
      parent.insert_child_after(pugi::node_pcdata, inserted).set_value(blanks.value());
    }
    return inserted;
  }

  void write_cache(pugi::xml_node cpu) {
    if (!advice_.shows_cache) {
      return;
    }
    pugi::xml_node cache = cpu.child("cache");
    if (!cache) {
      cache = add_line_after(cpu.child("topology"), "cache");
    }
    set(cache, "level", "3");
    set(cache, "mode", "emulate");
  }

  [[nodiscard]] bool has_these_cells(pugi::xml_node numa) {
    std::size_t at = 0;
    for (const pugi::xml_node cell : numa.children("cell")) {
      if (at == advice_.cells.size()) {
        return false;
      }
      const GuestCell& wanted = advice_.cells[at];
      std::vector<std::int32_t> vcpus;
      for (const CpuId vcpu : fields_.cpus(cell.attribute("cpus").value(), "<cell> cpus")) {
        vcpus.push_back(vcpu.value);
      }
      if (cell.attribute("id").as_int(static_cast<int>(at)) != wanted.id || vcpus != wanted.vcpus ||
          fields_.size(cell.attribute("memory").value(), cell.attribute("unit").value(),
                       "<cell> memory") != wanted.memory) {
        return false;
      }
      ++at;
    }
    return at == advice_.cells.size();
  }

  /// The distance that libvirt (LOCAL_DISTANCE, REMOTE_DISTANCE, conf/numa_conf.c, 9.0) and guests
  /// assume if none is given.
  static std::int32_t usual_distance(std::size_t from, std::size_t to) {
    constexpr std::int32_t kElsewhere = 20;
    return from == to ? kLocalDistance : kElsewhere;
  }
  [[nodiscard]] std::int32_t distance(std::size_t from, std::size_t to) const {
    return advice_.distances.empty() ? usual_distance(from, to)
                                     : advice_.distances[from * advice_.cells.size() + to];
  }

  [[nodiscard]] bool has_these_distances(pugi::xml_node numa) const {
    std::size_t from = 0;
    for (const pugi::xml_node cell : numa.children("cell")) {
      for (std::size_t to = 0; to < advice_.cells.size(); ++to) {
        const pugi::xml_node sibling =
            cell.child("distances")
                .find_child_by_attribute("sibling", "id", fmt::format("{}", to).c_str());
        if (sibling.attribute("value").as_int(usual_distance(from, to)) != distance(from, to)) {
          return false;
        }
      }
      ++from;
    }
    return true;
  }

  Result<void> write_cells(pugi::xml_node cpu) {
    pugi::xml_node numa = cpu.child("numa");
    const bool same_cells = has_these_cells(numa);
    if (same_cells && has_these_distances(numa)) {
      return {};
    }
    if (!same_cells) {
      VMNUMA_RETURN_IF_ERROR(check_cells_are_not_named());
      write_memory();
      cells_changed_ = true;
    }
    const std::string access = common_attribute(numa, "memAccess");
    const std::string discard = common_attribute(numa, "discard");
    if (numa) {
      remove_line(numa);
    }
    if (advice_.cells.empty()) {
      return {};
    }
    numa = add_line(cpu, "numa");
    for (std::size_t from = 0; from < advice_.cells.size(); ++from) {
      const GuestCell& advised = advice_.cells[from];
      pugi::xml_node cell = add_line(numa, "cell");
      set(cell, "id", fmt::format("{}", advised.id));
      set(cell, "cpus", to_list(advised.vcpus));
      set(cell, "memory", kib_text(advised.memory));
      set(cell, "unit", "KiB");
      if (!access.empty()) {
        set(cell, "memAccess", access);
      }
      if (!discard.empty()) {
        set(cell, "discard", discard);
      }
      if (!advice_.distances.empty()) {
        pugi::xml_node distances = add_line(cell, "distances");
        for (std::size_t to = 0; to < advice_.cells.size(); ++to) {
          pugi::xml_node sibling = add_line(distances, "sibling");
          set(sibling, "id", fmt::format("{}", to));
          set(sibling, "value", fmt::format("{}", distance(from, to)));
        }
      }
    }
    return {};
  }

  [[nodiscard]] Result<void> check_cells_are_not_named() const {
    for (const pugi::xml_node page :
         domain_.child("memoryBacking").child("hugepages").children("page")) {
      if (page.attribute("nodeset")) {
        return failure(ErrorCode::kUnsupported,
                       "<hugepages> has a page size for each cell, so the cells are not changed; "
                       "remove <page nodeset=> first");
      }
    }
    for (const pugi::xml_node device : domain_.child("devices").children("memory")) {
      if (const pugi::xml_node node = device.child("target").child("node");
          node && node.text().as_int() >= static_cast<int>(advice_.cells.size())) {
        return failure(ErrorCode::kUnsupported,
                       fmt::format("a memory device is plugged into cell {}, which the advised "
                                   "definition does not have; remove it first",
                                   node.text().as_int()));
      }
    }
    return {};
  }

  /// Makes <memory> match the advice, including memory devices; <currentMemory> follows if it was
  /// equal. If there are cells libvirt computes <memory> from them; without cells it must be right.
  void write_memory() {
    pugi::xml_node memory = domain_.child("memory");
    Bytes devices;
    for (const pugi::xml_node device : domain_.child("devices").children("memory")) {
      devices += fields_.size(device.child("target").child("size"), "<memory> size");
    }
    const Bytes all = advice_.memory + devices;
    const Bytes before = fields_.size(memory, "<memory>");
    if (before == all) {
      return;
    }
    for (pugi::xml_node element : {memory, domain_.child("currentMemory")}) {
      if (element && fields_.size(element, "<currentMemory>") == before) {
        set(element, "unit", "KiB");
        element.text().set(kib_text(all).c_str());
      }
    }
  }

  void write_start() {
    pugi::xml_node vcpu = domain_.child("vcpu");
    if (advice_.binding == AdvisedBinding::kAuto) {
      if (!vcpu) {
        vcpu = add_after({"currentMemory", "memory"}, "vcpu");
        vcpu.text().set(1);
      }
      set(vcpu, "placement", "auto");
    } else if (advice_.binding == AdvisedBinding::kCells &&
               is(vcpu.attribute("placement"), "auto")) {
      set(vcpu, "placement", "static");
    }
  }

  void write_numatune() {
    pugi::xml_node tune = domain_.child("numatune");
    if (!tune) {  // before the elements that libvirt puts after it
      tune = add_after({"cputune", "iothreads", "vcpus", "vcpu"}, "numatune");
    }
    if (advice_.binding == AdvisedBinding::kCells) {
      write_memnodes(tune);
      return;
    }
    pugi::xml_node memory = tune.child("memory");
    const bool was_restrictive = is(memory.attribute("mode"), "restrictive");
    if (advice_.binding == AdvisedBinding::kAuto || cells_changed_ || !was_restrictive) {
      while (const pugi::xml_node cell = tune.child("memnode")) {
        remove_line(cell);
      }
    }
    if (!memory) {
      memory = add_line(tune, "memory");
    }
    set(memory, "mode", "restrictive");
    if (advice_.binding == AdvisedBinding::kAuto) {
      set(memory, "placement", "auto");
      memory.remove_attribute("nodeset");
    } else {
      memory.remove_attribute("placement");
      set(memory, "nodeset", to_list(advice_.nodes));
    }
  }

  void write_memnodes(pugi::xml_node tune) {
    if (const pugi::xml_node memory = tune.child("memory")) {
      remove_line(memory);
    }
    std::size_t cell = 0;
    bool same = true;
    for (const pugi::xml_node bound : tune.children("memnode")) {
      same = same && cell < advice_.cell_nodes.size() &&
             bound.attribute("cellid").as_int(-1) == static_cast<int>(cell) &&
             is(bound.attribute("mode"), "preferred") &&
             is(bound.attribute("nodeset"), fmt::format("{}", advice_.cell_nodes[cell].value));
      ++cell;
    }
    if (same && cell == advice_.cell_nodes.size()) {
      return;
    }
    while (const pugi::xml_node bound = tune.child("memnode")) {
      remove_line(bound);
    }
    for (cell = 0; cell < advice_.cell_nodes.size(); ++cell) {
      pugi::xml_node bound = add_line(tune, "memnode");
      set(bound, "cellid", fmt::format("{}", cell));
      set(bound, "mode", "preferred");
      set(bound, "nodeset", fmt::format("{}", advice_.cell_nodes[cell].value));
    }
  }

  void write_io_threads() {
    if (advice_.io_threads > 0 && !domain_.child("iothreads") && !domain_.child("iothreadids")) {
      add_after({"vcpus", "vcpu", "currentMemory", "memory"}, "iothreads")
          .text()
          .set(advice_.io_threads);
      std::int32_t next = 0;
      for (const pugi::xml_node disk : domain_.child("devices").children("disk")) {
        if (!is_virtio_disk(disk)) {
          continue;
        }
        pugi::xml_node driver = disk.child("driver");
        if (!driver) {
          driver = insert_before(first_element_of(disk), "driver");
          set(driver, "name", "qemu");
        }
        set(driver, "iothread", fmt::format("{}", next % advice_.io_threads + 1));
        ++next;
      }
    }
    for (const Pin& pin : advice_.io_thread_pins) {
      const std::string number = fmt::format("{}", pin.number);
      pugi::xml_node tune = domain_.child("cputune");
      if (!tune) {
        tune = insert_before(domain_.child("numatune"), "cputune");
      }
      pugi::xml_node line = tune.find_child_by_attribute("iothreadpin", "iothread", number.c_str());
      if (!line) {
        line = add_line(tune, "iothreadpin");
        set(line, "iothread", number);
      }
      set(line, "cpuset", to_list(pin.cpus));
    }
  }

  void write_devices() {
    for (const AdvisedDevice& device : advice_.devices) {
      if (pci_source_of(domain_, device.address)) {
        continue;
      }
      pugi::xml_node source = pci_source_of(domain_, device.instead_of);
      if (!source) {
        pugi::xml_node devices = domain_.child("devices");
        pugi::xml_node added =
            add_line(devices ? devices : add_line(domain_, "devices"), "hostdev");
        set(added, "mode", "subsystem");
        set(added, "type", "pci");
        set(added, "managed", "yes");
        source = add_line(add_line(added, "source"), "address");
      }
      set_pci_address(source, device.address);
    }
  }

  static pugi::xml_node first_element_of(pugi::xml_node parent) {
    return parent.find_child(
        [](pugi::xml_node child) { return child.type() == pugi::node_element; });
  }

  pugi::xml_node domain_;
  const Advice& advice_;
  bool cells_changed_ = false;
  XmlFields fields_;
};

}  // namespace

Result<AdviceRequest> read_advice_request(std::string_view xml, Bytes default_huge_page_size) {
  pugi::xml_document document;
  VMNUMA_ASSIGN_OR_RETURN(const auto domain, load_domain_document(xml, kKeepEverything, document));
  std::string text(xml);
  if (!domain.child("uuid")) {
    pugi::xml_node root = domain;
    root.append_child("uuid").text().set(to_text(VmId{}).c_str());
    text = text_of(document, xml);
  }
  VMNUMA_ASSIGN_OR_RETURN(auto vm, parse_domain_xml(text, default_huge_page_size));
  AdviceRequest request;
  request.vm = std::move(vm);
  request.memory_hotplug = static_cast<bool>(domain.child("maxMemory"));
  for (const pugi::xml_node disk : domain.child("devices").children("disk")) {
    request.virtio_disks += is_virtio_disk(disk) ? 1 : 0;
  }
  const std::string_view arch = domain.child("os").child("type").attribute("arch").value();
  request.is_x86 = arch.empty() || arch == "x86_64" || arch == "i686";
  return request;
}

Result<std::vector<HeldDevice>> held_devices(std::string_view xml) {
  pugi::xml_document document;
  VMNUMA_ASSIGN_OR_RETURN(const auto domain, load_domain_document(xml, kKeepEverything, document));
  const std::string name = domain.child_value("name");
  const auto id = parse_vm_id(domain.child_value("uuid"));
  XmlFields fields;
  std::vector<HeldDevice> held;
  for (PciDevice& device : pci_devices_of(domain, fields)) {
    held.push_back({std::move(device.address), id.value_or(VmId{}), name});
  }
  if (fields.complaint()) {
    return failure(ErrorCode::kCorrupt,
                   fmt::format("the devices of '{}' are not known: {}", name, *fields.complaint()));
  }
  return held;
}

Result<std::string> advised_xml(std::string_view xml, const Advice& advice) {
  pugi::xml_document document;
  VMNUMA_ASSIGN_OR_RETURN(const auto domain, load_domain_document(xml, kKeepEverything, document));
  return Writer(domain, advice).write().map([&] { return text_of(document, xml); });
}

}  // namespace vmnuma::balancer
