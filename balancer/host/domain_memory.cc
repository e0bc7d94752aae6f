// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace vmnuma::balancer {
namespace {

/// The memory of definitions without <memory>, which people may omit if there are cells; libvirt
/// never does.
Bytes memory_of_parts(pugi::xml_node domain, const VmDescription& vm, XmlFields& fields) {
  Bytes sum;
  const auto add = [&](Bytes part) {
    if (part.value > std::numeric_limits<std::int64_t>::max() - sum.value) {
      fields.complain("the memory of its cells is too large");
    } else {
      sum += part;
    }
  };
  for (const GuestCell& cell : vm.cells) {
    add(cell.memory);
  }
  for (const pugi::xml_node module : domain.child("devices").children("memory")) {
    add(fields.size(module.child("target").child("size"), "<size> of <memory>"));
  }
  if (sum == Bytes{}) {
    fields.complain("it has neither <memory> nor cells with memory");
  }
  return sum;
}

void read_amounts(pugi::xml_node domain, VmDescription& vm, XmlFields& fields) {
  const pugi::xml_node memory = domain.child("memory");
  vm.max_memory = memory ? fields.size(memory, "<memory>") : memory_of_parts(domain, vm, fields);
  const pugi::xml_node current = domain.child("currentMemory");
  vm.memory = current ? fields.size(current, "<currentMemory>") : vm.max_memory;
}

NumatuneMode read_mode(pugi::xml_node element, XmlFields& fields) {
  const std::string_view mode = element.attribute("mode").as_string("strict");
  if (const auto known = value_named<NumatuneMode>(mode); known && *known != NumatuneMode::kNone) {
    return *known;
  }
  fields.complain(fmt::format("<numatune> mode '{}' is unknown", mode));
  return NumatuneMode::kStrict;
}

/// Reads bindings in document order. Each cell gets its own binding; one without its own is bound
/// as <memory> specifies, or not at all (virDomainNumatuneGetNodeset, conf/numa_conf.c, 9.0).
std::vector<CellBinding> read_bindings_of_cells(pugi::xml_node numatune, VmDescription& vm,
                                                XmlFields& fields) {
  std::vector<CellBinding> bindings;
  for (const pugi::xml_node bound : numatune.children("memnode")) {
    bindings.push_back({read_mode(bound, fields),
                        fields.nodes(bound.attribute("nodeset").value(), "<memnode> nodeset")});
    for (GuestCell& cell : vm.cells) {
      if (cell.id == bound.attribute("cellid").as_int(-1)) {
        cell.binding = bindings.back();
      }
    }
  }
  if (!bindings.empty() && !numatune.child("memory")) {
    for (GuestCell& cell : vm.cells) {
      cell.binding = cell.binding.value_or(CellBinding{});
    }
  }
  return bindings;
}

/// With <vcpu placement='auto'>, memory is placed automatically as well, unless specified otherwise
/// (virDomainNumatuneParseXML, conf/numa_conf.c, 9.0).
void read_numatune(pugi::xml_node domain, VmDescription& vm, XmlFields& fields) {
  const pugi::xml_node numatune = domain.child("numatune");
  const std::vector<CellBinding> bindings = read_bindings_of_cells(numatune, vm, fields);
  if (const pugi::xml_node memory = numatune.child("memory")) {
    vm.numatune = read_mode(memory, fields);
    const pugi::xml_attribute placement = memory.attribute("placement");
    vm.numatune_auto = placement ? std::string_view(placement.value()) == "auto"
                                 : vm.placement_auto && !memory.attribute("nodeset");
    vm.placement_auto |= vm.numatune_auto;
    const auto nodes = fields.nodes(memory.attribute("nodeset").value(), "<numatune> nodeset");
    if (!vm.numatune_auto) {
      vm.numatune_nodes = nodes;
    }
    return;
  }
  if (vm.placement_auto && !numatune.child("memnode")) {
    vm.numatune = NumatuneMode::kStrict;
    vm.numatune_auto = true;
    return;
  }
  // Cells have bindings of their own but the whole has none: the first cell's mode is used for the
  // VM.
  std::set<NodeId> nodes;
  for (const CellBinding& binding : bindings) {
    vm.numatune = vm.numatune == NumatuneMode::kNone ? binding.mode : vm.numatune;
    nodes.insert(binding.nodes.begin(), binding.nodes.end());
  }
  vm.numatune_nodes.assign(nodes.begin(), nodes.end());
}

bool is_ordinary(Bytes page_size) {
  return page_size.value <= sysconf(_SC_PAGESIZE);
}

/// Cells named by a <page nodeset=> have pages of that size; the others have the size of the <page>
/// without a nodeset, or ordinary pages (qemuBuildMemoryGetPagesize, qemu/qemu_command.c, 9.0).
void read_page_sizes_of_cells(pugi::xml_node huge_pages, VmDescription& vm, XmlFields& fields) {
  if (!huge_pages.child("page")) {
    return;  // all cells have the VM's
  }
  Bytes others;
  std::map<std::int32_t, Bytes> named;
  for (const pugi::xml_node page : huge_pages.children("page")) {
    const Bytes size =
        fields.size(page.attribute("size").value(), page.attribute("unit").value(), "<page> size");
    const Bytes counted = is_ordinary(size) ? Bytes{} : size;
    if (!page.attribute("nodeset")) {
      others = counted;
      continue;
    }
    for (const auto cell : fields.nodes(page.attribute("nodeset").value(), "<page> nodeset")) {
      named[cell.value] = counted;
    }
  }
  for (GuestCell& cell : vm.cells) {
    const auto own = named.find(cell.id);
    cell.page_size = own == named.end() ? others : own->second;
  }
}

/// The largest page size in use, because it is the hardest to find room for. Zero for ordinary
/// pages, which <hugepages> may also name (to exclude some cells).
Bytes read_huge_page_size(pugi::xml_node backing, Bytes default_size, XmlFields& fields) {
  const pugi::xml_node huge_pages = backing.child("hugepages");
  if (!huge_pages) {
    return {};
  }
  if (!huge_pages.child("page")) {
    return default_size;
  }
  Bytes largest;
  for (const pugi::xml_node page : huge_pages.children("page")) {
    largest = std::max(largest, fields.size(page.attribute("size").value(),
                                            page.attribute("unit").value(), "<page> size"));
  }
  return is_ordinary(largest) ? Bytes{} : largest;
}

void read_memory_backing(pugi::xml_node domain, Bytes default_huge_page_size, VmDescription& vm,
                         XmlFields& fields) {
  const pugi::xml_node backing = domain.child("memoryBacking");
  vm.huge_page_size = read_huge_page_size(backing, default_huge_page_size, fields);
  read_page_sizes_of_cells(backing.child("hugepages"), vm, fields);
  vm.memory_locked = static_cast<bool>(backing.child("locked"));
  // QEMU shares memfd memory unless told otherwise (memory-backend-memfd, property share,
  // QEMU 7.2).
  const std::string_view access = backing.child("access").attribute("mode").value();
  const std::string_view source = backing.child("source").attribute("type").value();
  vm.memory_shared |= access == "shared" || (source == "memfd" && access != "private");
}

}  // namespace

void read_memory(pugi::xml_node domain, Bytes default_huge_page_size, VmDescription& vm,
                 XmlFields& fields) {
  read_amounts(domain, vm, fields);
  read_numatune(domain, vm, fields);
  read_memory_backing(domain, default_huge_page_size, vm, fields);
}

}  // namespace vmnuma::balancer
