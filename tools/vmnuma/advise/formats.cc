// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/formats.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/model/text.h"

namespace vmnuma::tools {

namespace {

std::int64_t kib_of(Bytes bytes) {
  return bytes.value / kKiB.value;
}

// ---- advice that a format cannot express ----

/// What a format cannot express of a piece of advice: nothing if it can express all of it;
/// otherwise what the user should do instead, or "" if there is nothing to do.
using Lacking = std::optional<std::string>;
constexpr std::nullopt_t kSaid = std::nullopt;

/// Returns the numbers in a piece of advice, if its line names only the kind.
std::string values_in(AdviceAbout about, const Advice& advice) {
  std::vector<std::string> numbers;
  if (about == AdviceAbout::kDistances) {
    const auto cells = static_cast<std::ptrdiff_t>(advice.cells.size());
    for (auto row = advice.distances.begin(); row != advice.distances.end(); row += cells) {
      numbers.push_back(fmt::format("{}", fmt::join(row, row + cells, " ")));
    }
  } else if (about == AdviceAbout::kIoThreadPins) {
    for (const Pin& pin : advice.io_thread_pins) {
      numbers.push_back(fmt::format("{} to {}", pin.number, to_list(pin.cpus)));
    }
  }
  return numbers.empty() ? "" : fmt::format(" ({})", fmt::join(numbers, ", "));
}

/// Returns a comment for each piece of advice that the format cannot express according to
/// `lacking`.
std::string comments(const Advice& advice, Lacking (*lacking)(AdviceAbout, const Advice&)) {
  std::string text;
  for (const AdviceLine& line : advice.lines) {
    if (line.about == AdviceAbout::kCache && !advice.shows_cache) {
      continue;  // nothing to say
    }
    if (const Lacking remedy = lacking(line.about, advice)) {
      text += fmt::format("# {}: {}{}{}{}\n", name_of(line.about), line.what,
                          values_in(line.about, advice), remedy->empty() ? "" : "; ", *remedy);
    }
  }
  return text;
}

Lacking lacking_in_virt_install(AdviceAbout about, const Advice& /*advice*/) {
  switch (about) {
    case AdviceAbout::kDevices:
    case AdviceAbout::kCells:
    case AdviceAbout::kTopology:
    case AdviceAbout::kThreads:
    case AdviceAbout::kDistances:
    case AdviceAbout::kCache:
    case AdviceAbout::kStart:
    case AdviceAbout::kMemory:
    case AdviceAbout::kPages:
    case AdviceAbout::kIoThreadPins:
      return kSaid;
    case AdviceAbout::kFeatures:
      return "--cpu MODEL,require=topoext";
    case AdviceAbout::kIoThreads:
      return "--disk ...,driver.iothread=N for each virtio disk, with these in turn";
  }
  return "";
}

/// For a format without dies: they become additional cores.
Lacking lacking_dies(const Advice& advice) {
  return advice.dies == 1 ? Lacking(kSaid) : "its dies are cores here";
}

Lacking lacking_in_nova(AdviceAbout about, const Advice& advice) {
  switch (about) {
    case AdviceAbout::kCells:
    case AdviceAbout::kThreads:
    case AdviceAbout::kPages:
      return kSaid;
    case AdviceAbout::kTopology:
      return lacking_dies(advice);
    case AdviceAbout::kStart:
    case AdviceAbout::kMemory:
      return "Nova chooses the nodes";
    case AdviceAbout::kDevices:
      return "Nova chooses devices by pci_passthrough:alias";
    case AdviceAbout::kFeatures:
    case AdviceAbout::kDistances:
    case AdviceAbout::kCache:
    case AdviceAbout::kIoThreads:
    case AdviceAbout::kIoThreadPins:
      break;
  }
  return "";
}

Lacking lacking_in_pve(AdviceAbout about, const Advice& advice) {
  switch (about) {
    case AdviceAbout::kCells:
    case AdviceAbout::kPages:
      return kSaid;
    case AdviceAbout::kTopology:
      return lacking_dies(advice);
    case AdviceAbout::kThreads:
      return advice.threads == 1 ? Lacking(kSaid) : "they are cores here";
    case AdviceAbout::kMemory:
      return advice.binding == AdvisedBinding::kCells ? Lacking(kSaid) : "";
    case AdviceAbout::kIoThreads:
      return "iothread=1 at each virtio disk";
    case AdviceAbout::kDevices:
      return kSaid;
    case AdviceAbout::kFeatures:
    case AdviceAbout::kDistances:
    case AdviceAbout::kCache:
    case AdviceAbout::kStart:
    case AdviceAbout::kIoThreadPins:
      break;
  }
  return "";
}

/// Returns whether KubeVirt shows the guest the nodes of the pod's CPUs.
bool kubevirt_passes_nodes(const Advice& advice) {
  return advice.cells.size() > 1 && advice.page_size > Bytes{};
}

Lacking lacking_in_kubevirt(AdviceAbout about, const Advice& advice) {
  switch (about) {
    case AdviceAbout::kThreads:
    case AdviceAbout::kPages:
      return kSaid;
    case AdviceAbout::kCells:
      return advice.cells.empty() || kubevirt_passes_nodes(advice)
                 ? Lacking(kSaid)
                 : "numa.guestMappingPassthrough shows several, with dedicatedCpuPlacement "
                   "and huge pages";
    case AdviceAbout::kTopology:
      return lacking_dies(advice);
    case AdviceAbout::kStart:
    case AdviceAbout::kMemory:
      return "the kubelet chooses the nodes";
    case AdviceAbout::kDevices:
      return "a device plugin chooses devices";
    case AdviceAbout::kIoThreads:
      return "ioThreadsPolicy auto chooses how many";
    case AdviceAbout::kFeatures:
    case AdviceAbout::kDistances:
    case AdviceAbout::kCache:
    case AdviceAbout::kIoThreadPins:
      break;
  }
  return "";
}

}  // namespace

std::string virt_install_arguments(const Advice& advice) {
  std::vector<std::string> lines{
      fmt::format("--vcpus {},sockets={}{},cores={},threads={}{}", advice.vcpus, advice.sockets,
                  advice.dies == 1 ? "" : fmt::format(",dies={}", advice.dies), advice.cores,
                  advice.threads, advice.binding == AdvisedBinding::kAuto ? ",placement=auto" : ""),
      fmt::format("--memory {}", whole_mib(advice.memory))};
  if (advice.page_size > Bytes{}) {
    lines.push_back(fmt::format("--memorybacking hugepages.page0.size={},hugepages.page0.unit=KiB",
                                kib_of(advice.page_size)));
  }
  std::string cpu;
  for (std::size_t i = 0; i < advice.cells.size(); ++i) {
    const GuestCell& cell = advice.cells[i];
    const std::string begin = fmt::format("numa.cell{}.", i);
    cpu += fmt::format(",{0}id={1},{0}cpus={2},{0}memory={3},{0}unit=KiB", begin, cell.id,
                       to_list(cell.vcpus), kib_of(cell.memory));
    for (std::size_t to = 0; to < advice.cells.size() && !advice.distances.empty(); ++to) {
      cpu += fmt::format(",{0}distances.sibling{1}.id={1},{0}distances.sibling{1}.value={2}", begin,
                         to, advice.distances[i * advice.cells.size() + to]);
    }
  }
  if (advice.shows_cache) {
    cpu += ",cache.level=3,cache.mode=emulate";
  }
  if (!cpu.empty()) {
    lines.push_back("--cpu " + cpu.substr(1));
  }
  switch (advice.binding) {
    case AdvisedBinding::kAuto:
      lines.emplace_back("--numatune memory.mode=restrictive,memory.placement=auto");
      break;
    case AdvisedBinding::kNodes:
      lines.push_back(fmt::format("--numatune memory.mode=restrictive,memory.nodeset={}",
                                  to_list(advice.nodes)));
      break;
    case AdvisedBinding::kCells: {
      std::string bound;
      for (std::size_t i = 0; i < advice.cell_nodes.size(); ++i) {
        bound += fmt::format(
            "{0}memnode{1}.cellid={1},memnode{1}.mode=preferred,"
            "memnode{1}.nodeset={2}",
            i == 0 ? "" : ",", i, advice.cell_nodes[i].value);
      }
      lines.push_back("--numatune " + bound);
      break;
    }
  }
  if (advice.io_threads > 0) {
    lines.push_back(fmt::format("--iothreads {}", advice.io_threads));
  }
  std::string pins;
  for (std::size_t i = 0; i < advice.io_thread_pins.size(); ++i) {
    // A new VM's I/O threads are numbered from 1.
    pins += fmt::format("{0}iothreadpin{1}.iothread={2},iothreadpin{1}.cpuset={3}",
                        i == 0 ? "" : ",", i, i + 1, to_list(advice.io_thread_pins[i].cpus));
  }
  if (!pins.empty()) {
    lines.push_back("--cputune " + pins);
  }
  for (const AdvisedDevice& device : advice.devices) {
    lines.push_back("--hostdev " + device.address);
  }
  // Comments must come after the last argument, because they end the command.
  return fmt::format("{}\n", fmt::join(lines, " \\\n")) + comments(advice, lacking_in_virt_install);
}

std::string nova_extra_specs(const Advice& advice) {
  std::string text = fmt::format("hw:cpu_sockets={}\nhw:cpu_cores={}\nhw:cpu_threads={}\n",
                                 advice.sockets, advice.cores * advice.dies, advice.threads);
  if (advice.threads > 1) {
    // Without these settings the guest's threads float over all CPUs of a node.
    text += "hw:cpu_policy=dedicated\nhw:cpu_thread_policy=require\n";
  }
  if (advice.page_size > Bytes{}) {
    text += fmt::format("hw:mem_page_size={}\n", kib_of(advice.page_size));
  }
  // A flavor without hw:numa_nodes floats over all nodes of its host.
  text += fmt::format("hw:numa_nodes={}\n", std::max<std::size_t>(advice.cells.size(), 1));
  for (const GuestCell& cell : advice.cells) {
    text += fmt::format("hw:numa_cpus.{}={}\nhw:numa_mem.{}={}\n", cell.id, to_list(cell.vcpus),
                        cell.id, whole_mib(cell.memory));
  }
  return text + comments(advice, lacking_in_nova);
}

std::string pve_lines(const Advice& advice) {
  std::string text = fmt::format("sockets: {}\ncores: {}\n", advice.sockets,
                                 advice.cores * advice.threads * advice.dies);
  std::int64_t mib = whole_mib(advice.memory);
  if (!advice.cells.empty()) {
    mib = 0;
    for (const GuestCell& cell : advice.cells) {
      mib += whole_mib(cell.memory);
    }
  }
  text += fmt::format("memory: {}\n", mib);
  if (advice.page_size > Bytes{}) {
    text += fmt::format("hugepages: {}\n", whole_mib(advice.page_size));
  }
  // Proxmox VE supports huge pages only with numa.
  text += fmt::format("numa: {}\n", advice.cells.empty() && advice.page_size == Bytes{} ? 0 : 1);
  for (std::size_t i = 0; i < advice.cells.size(); ++i) {
    text += fmt::format("numa{}: cpus={},memory={}", i, to_list(advice.cells[i].vcpus),
                        whole_mib(advice.cells[i].memory));
    if (!advice.cell_nodes.empty()) {
      text += fmt::format(",hostnodes={},policy=preferred", advice.cell_nodes[i].value);
    }
    text += '\n';
  }
  for (std::size_t i = 0; i < advice.devices.size(); ++i) {
    text += fmt::format("hostpci{}: {}\n", i, advice.devices[i].address);
  }
  return text + comments(advice, lacking_in_pve);
}

std::string kubevirt_spec(const Advice& advice) {
  const bool passes_nodes = kubevirt_passes_nodes(advice);
  std::string text =
      fmt::format("domain:\n  cpu:\n    sockets: {}\n    cores: {}\n    threads: {}\n",
                  advice.sockets, advice.cores * advice.dies, advice.threads);
  if (passes_nodes || advice.threads > 1) {
    text += "    dedicatedCpuPlacement: true\n";
  }
  if (passes_nodes) {
    text += "    numa:\n      guestMappingPassthrough: {}\n";
  }
  if (advice.io_threads > 0) {
    text += "  ioThreadsPolicy: auto\n";
  }
  text += fmt::format("  memory:\n    guest: {}Mi\n", whole_mib(advice.memory));
  if (advice.page_size > Bytes{}) {
    const std::int64_t mib = whole_mib(advice.page_size);
    constexpr std::int64_t kMibPerGib = 1024;
    text += fmt::format("    hugepages:\n      pageSize: {}{}\n",
                        mib % kMibPerGib == 0 ? mib / kMibPerGib : mib,
                        mib % kMibPerGib == 0 ? "Gi" : "Mi");
  }
  return text + comments(advice, lacking_in_kubevirt);
}

}  // namespace vmnuma::tools
