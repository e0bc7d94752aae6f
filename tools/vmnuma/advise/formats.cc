// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/formats.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "placement/model/text.h"

namespace vmnuma::tools {

namespace {

using placement::Advice;
using placement::AdvisedBinding;
using placement::Bytes;
using placement::GuestCell;

/// What of these formats takes whole MiB is given no less than was advised.
std::int64_t mib_of(Bytes bytes) {
  return (bytes.value + placement::kMiB.value - 1) / placement::kMiB.value;
}

std::int64_t kib_of(Bytes bytes) {
  return bytes.value / placement::kKiB.value;
}

/// "0-5,12".
std::string cpus_of(const GuestCell& cell) {
  std::vector<placement::CpuId> ids;
  for (const std::int32_t vcpu : cell.vcpus) {
    ids.push_back({vcpu});
  }
  return placement::to_list(ids);
}

}  // namespace

std::string virt_install_arguments(const Advice& advice) {
  std::vector<std::string> lines{
      fmt::format("--vcpus {},sockets={},cores={},threads={}{}", advice.vcpus, advice.sockets,
                  advice.cores, advice.threads,
                  advice.binding == AdvisedBinding::kAuto ? ",placement=auto" : ""),
      fmt::format("--memory {}", mib_of(advice.memory))};
  if (advice.page_size > Bytes{}) {
    lines.push_back(fmt::format("--memorybacking hugepages.page0.size={},hugepages.page0.unit=KiB",
                                kib_of(advice.page_size)));
  }
  std::string cpu;
  for (std::size_t i = 0; i < advice.cells.size(); ++i) {
    const GuestCell& cell = advice.cells[i];
    const std::string begin = fmt::format("numa.cell{}.", i);
    cpu += fmt::format(",{0}id={1},{0}cpus={2},{0}memory={3},{0}unit=KiB", begin, cell.id,
                       cpus_of(cell), kib_of(cell.memory));
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
                                  placement::to_list(advice.nodes)));
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
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + (i + 1 < lines.size() ? " \\\n" : "\n");
  }
  return text;
}

std::string nova_extra_specs(const Advice& advice) {
  std::string text = fmt::format("hw:cpu_sockets={}\nhw:cpu_cores={}\nhw:cpu_threads={}\n",
                                 advice.sockets, advice.cores, advice.threads);
  if (advice.page_size > Bytes{}) {
    text += fmt::format("hw:mem_page_size={}\n", kib_of(advice.page_size));
  }
  // A flavor without hw:numa_nodes floats over all nodes of its host.
  text += fmt::format("hw:numa_nodes={}\n", std::max<std::size_t>(advice.cells.size(), 1));
  for (const GuestCell& cell : advice.cells) {
    text += fmt::format("hw:numa_cpus.{}={}\nhw:numa_mem.{}={}\n", cell.id, cpus_of(cell), cell.id,
                        mib_of(cell.memory));
  }
  return text;
}

std::string pve_lines(const Advice& advice) {
  std::string text = fmt::format("sockets: {}\ncores: {}\n", advice.sockets,
                                 advice.cores * advice.threads * advice.dies);
  std::int64_t mib = mib_of(advice.memory);
  if (!advice.cells.empty()) {
    mib = 0;
    for (const GuestCell& cell : advice.cells) {
      mib += mib_of(cell.memory);
    }
  }
  text += fmt::format("memory: {}\n", mib);
  if (advice.page_size > Bytes{}) {
    text += fmt::format("hugepages: {}\n", mib_of(advice.page_size));
  }
  // Without numa there are no huge pages in Proxmox VE.
  text += fmt::format("numa: {}\n", advice.cells.empty() && advice.page_size == Bytes{} ? 0 : 1);
  for (std::size_t i = 0; i < advice.cells.size(); ++i) {
    text += fmt::format("numa{}: cpus={},memory={}", i, cpus_of(advice.cells[i]),
                        mib_of(advice.cells[i].memory));
    if (!advice.cell_nodes.empty()) {
      text += fmt::format(",hostnodes={},policy=preferred", advice.cell_nodes[i].value);
    }
    text += '\n';
  }
  return text;
}

std::string kubevirt_spec(const Advice& advice) {
  const bool passes_nodes = advice.cells.size() > 1 && advice.page_size > Bytes{};
  std::string text =
      fmt::format("domain:\n  cpu:\n    sockets: {}\n    cores: {}\n    threads: {}\n",
                  advice.sockets, advice.cores, advice.threads);
  if (passes_nodes) {
    text += "    dedicatedCpuPlacement: true\n    numa:\n      guestMappingPassthrough: {}\n";
  } else if (advice.cells.size() > 1) {
    text += fmt::format(
        "    # {} cells: numa.guestMappingPassthrough shows them, with dedicatedCpuPlacement and "
        "huge pages\n",
        advice.cells.size());
  }
  if (advice.io_threads > 0) {
    text += "  ioThreadsPolicy: auto\n";
  }
  text += fmt::format("  memory:\n    guest: {}Mi\n", mib_of(advice.memory));
  if (advice.page_size > Bytes{}) {
    const std::int64_t mib = mib_of(advice.page_size);
    constexpr std::int64_t kMibPerGib = 1024;
    text += fmt::format("    hugepages:\n      pageSize: {}{}\n",
                        mib % kMibPerGib == 0 ? mib / kMibPerGib : mib,
                        mib % kMibPerGib == 0 ? "Gi" : "Mi");
  }
  return text;
}

}  // namespace vmnuma::tools
