// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/scheduling_checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/linux/kernel_scheduling.h"
#include "stats/topology/cpu_isolation.h"
#include "stats/topology/topology_reader.h"
#include "tools/vmnuma/text/scheduling_text.h"

namespace vmnuma::tools {

namespace {

using files::Directory;

/// Returns the value of kernel.numa_balancing; "0" also for a kernel without it.
std::string numa_balancing(const Directory& root) {
  std::string value = root.read("proc/sys/kernel/numa_balancing").value_or("0");
  value.erase(value.find_last_not_of(" \n") + 1);  // npos + 1 is 0
  return value;
}

/// Returns whether some node has several last-level caches, so that there is a choice.
bool has_nodes_of_several_caches(const Directory& root) {
  const auto reading = stats::read_topology(root);
  return reading && std::any_of(reading->topology.nodes.begin(), reading->topology.nodes.end(),
                                [](const Node& node) {
                                  std::set<std::int32_t> caches;
                                  for (const Cpu& cpu : node.cpus) {
                                    caches.insert(cpu.last_level_cache);
                                  }
                                  return caches.size() > 1;
                                });
}

/// "CPU 3", "CPUs 3-5".
std::string named_cpus(const std::vector<CpuId>& cpus) {
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + to_list(cpus);
}

/// Returns the CPUs in the list file for which `is_meant` holds. A file that is missing, or that
/// contains "(null)" (nohz_full, Linux 6.1), has none.
template <class Predicate>
std::vector<CpuId> cpus_in(const Directory& root, std::string_view path, Predicate is_meant) {
  std::vector<CpuId> cpus =
      files::read_parsed(root, path, parse_cpu_list).value_or(std::vector<CpuId>{});
  std::erase_if(cpus, [&](CpuId cpu) { return !is_meant(cpu); });
  return cpus;
}

}  // namespace

Finding check_kernel_balancing(const Directory& root) {
  const std::string value = numa_balancing(root);
  if (value == "0") {
    return {"balancing", Severity::kOk, "the kernel's own NUMA balancing is off"};
  }
  if (value == "1") {
    return {"balancing", Severity::kOk,
            "the kernel's own NUMA balancing is on; it follows the vCPUs that vmnuma pins"};
  }
  return {"balancing",
          Severity::kWarning,
          fmt::format("kernel.numa_balancing is {}: memory tiering moves pages between nodes, "
                      "regardless of VMs' homes",
                      value),
          "Unless this is intended, set it back:",
          {"sysctl kernel.numa_balancing=1"}};
}

Finding check_sched_ext(const Directory& root) {
  const auto scheduler = stats::read_sched_ext(root);
  if (!scheduler) {
    return {"scheduler", Severity::kOk, "the kernel's own scheduler runs"};
  }
  return {"scheduler", Severity::kNote, sched_ext_text(*scheduler)};
}

Finding check_cache_scheduling(const Directory& root) {
  if (!stats::has_cache_scheduling(root)) {
    return {"caches", Severity::kOk, "the kernel has no cache-aware scheduling"};
  }
  const CacheScheduling state = stats::read_cache_scheduling(root);
  if (state != CacheScheduling::kOff && !has_nodes_of_several_caches(root)) {
    return {"caches", Severity::kOk,
            "the kernel's cache-aware scheduling has nothing to do within pins: each node has one "
            "last-level cache"};
  }
  const bool is_balancing = numa_balancing(root) != "0";
  const std::string what = "the kernel: " + cache_scheduling_text(state, is_balancing);
  if (state == CacheScheduling::kOff || is_balancing) {
    return {"caches", Severity::kOk, what};
  }
  return {
      "caches",
      Severity::kWarning,
      what,
      "Leave NUMA balancing on (and vmnuma-kernel-balancing off), or switch this off as well:",
      {"sysctl kernel.numa_balancing=1", "echo 0 >/sys/kernel/debug/sched/llc_balancing/enabled"}};
}

Finding check_isolation(const Directory& root) {
  const auto isolation = stats::read_cpu_isolation(root);
  if (!isolation) {
    return {"isolation", Severity::kError, isolation.error().message};
  }
  for (const std::string_view slice : stats::kVmSlices) {
    const std::string partition = stats::partition_of(root, slice);
    if (partition == "isolated") {
      return {"isolation",
              Severity::kWarning,
              fmt::format("{} is an isolated cpuset partition, where the kernel does not spread "
                          "threads over CPUs: no VM is pinned there",
                          slice),
              "To have CPUs of its own among which the kernel spreads threads, make it a partition "
              "of the type root:",
              {fmt::format("echo root >/sys/fs/cgroup/{}/cpuset.cpus.partition", slice)}};
    }
    if (partition.find("invalid") != std::string::npos) {
      return {"isolation", Severity::kWarning,
              fmt::format("{} is configured as a cpuset partition, but is not a valid one: the "
                          "kernel reports '{}'",
                          slice, partition),
              "VMs share their CPUs with others until this is fixed."};
    }
  }
  std::vector<std::string> kept;
  if (!isolation->at_boot.empty()) {
    kept.push_back(named_cpus(isolation->at_boot) + " (isolcpus=)");
  }
  if (!isolation->in_partitions.empty()) {
    kept.push_back(named_cpus(isolation->in_partitions) + " (isolated cpuset partitions)");
  }
  const std::vector<CpuId> others = cpus_in(root, "sys/devices/system/cpu/online", [&](CpuId cpu) {
    return isolation->of_vms &&
           !std::binary_search(isolation->of_vms->begin(), isolation->of_vms->end(), cpu) &&
           !std::binary_search(isolation->in_partitions.begin(), isolation->in_partitions.end(),
                               cpu);
  });
  if (!others.empty()) {
    kept.push_back(named_cpus(others) +
                   " (another cpuset partition, or outside the cpuset of VMs)");
  }
  const std::string what =
      kept.empty()
          ? "no CPU is kept from VMs"
          : fmt::format("kept from VMs, so that none is pinned there: {}", fmt::join(kept, ", "));
  const std::vector<CpuId> tickless = cpus_in(root, "sys/devices/system/cpu/nohz_full",
                                              [&](CpuId cpu) { return !isolation->keeps(cpu); });
  if (!tickless.empty()) {
    return {"isolation", Severity::kNote,
            fmt::format("{}; VMs run on {} although nohz_full= names it, because that isolates "
                        "nothing by itself",
                        what, named_cpus(tickless)),
            "To give it to one workload alone, isolate it with isolcpus= or a cpuset partition."};
  }
  return {"isolation", kept.empty() ? Severity::kOk : Severity::kNote, what};
}

}  // namespace vmnuma::tools
