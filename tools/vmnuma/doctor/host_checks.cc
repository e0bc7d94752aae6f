// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/host_checks.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/base/number.h"
#include "placement/model/text.h"
#include "stats/formats/node_formats.h"
#include "stats/linux/host_needs.h"
#include "stats/perf/perf_counters.h"
#include "stats/topology/special_hardware.h"
#include "stats/topology/topology_reader.h"
#include "tools/vmnuma/doctor/scheduling_checks.h"

namespace vmnuma::tools {

namespace {

using files::Directory;

constexpr std::string_view kNodes = "sys/devices/system/node/";

Result<std::vector<NodeId>> node_list(const files::Directory& root, std::string_view name) {
  return root.read(std::string(kNodes) + std::string(name)).and_then([](const std::string& text) {
    return parse_node_list(text);
  });
}

std::vector<NodeId> without(const std::vector<NodeId>& nodes, const std::vector<NodeId>& taken) {
  std::vector<NodeId> rest;
  std::set_difference(nodes.begin(), nodes.end(), taken.begin(), taken.end(),
                      std::back_inserter(rest));
  return rest;
}

}  // namespace

Finding check_nodes(const files::Directory& root) {
  const auto online = node_list(root, "online");
  if (!online) {
    return {"nodes", Severity::kError,
            "the kernel reports no NUMA nodes: " + online.error().message,
            "Use a kernel with CONFIG_NUMA, such as Debian's, and start it without numa=off."};
  }
  const auto with_cpus = node_list(root, "has_cpu");
  const auto with_memory = node_list(root, "has_memory");
  if (!with_cpus || !with_memory) {
    return {"nodes", Severity::kWarning,
            "cannot read which nodes have CPUs and memory: " +
                (with_cpus ? with_memory : with_cpus).error().message};
  }
  if (online->size() < 2) {
    return {
        "nodes", Severity::kNote, "the host has one NUMA node, so there is nothing to balance",
        "If it has more, the firmware hides them: look for 'node interleaving' in its setup, or "
        "for NUMA cells in the definition of this host if it is a VM itself."};
  }
  const std::vector<NodeId> cpuless = without(*online, *with_cpus);
  const std::vector<NodeId> memoryless = without(*online, *with_memory);
  std::string what = fmt::format("{} nodes: {}", online->size(), to_list(*online));
  if (!memoryless.empty()) {
    what += fmt::format("; without memory: {}", to_list(memoryless));
  }
  if (!cpuless.empty()) {
    what += fmt::format("; without CPUs: {}", to_list(cpuless));
  }
  const bool is_whole = cpuless.empty() && memoryless.empty();
  if (!is_whole) {
    what += " (no VM gets its home there)";
  }
  const bool can_fill = !memoryless.empty();
  return {
      "nodes", is_whole ? Severity::kOk : Severity::kNote, what,
      can_fill ? "If the host should have memory there, check whether its slots are filled." : ""};
}

Finding check_distances(const files::Directory& root) {
  const auto online = node_list(root, "online");
  if (!online || online->size() < 2) {
    return {"distances", Severity::kOk, "there are no two nodes, so there are no distances"};
  }
  bool all_local = true;
  for (const NodeId node : *online) {
    const std::string path = fmt::format("{}node{}/distance", kNodes, node.value);
    const auto row = root.read(path).and_then(
        [](const std::string& text) { return stats::parse_node_distances(text); });
    if (!row) {
      return {"distances", Severity::kError, "they cannot be read: " + row.error().message};
    }
    all_local = all_local && std::all_of(row->begin(), row->end(),
                                         [](std::int32_t distance) { return distance == 10; });
  }
  if (all_local) {
    return {"distances", Severity::kWarning,
            "every other node is reported to be as near as the node itself (10), so locality seems "
            "worth nothing",
            "The firmware has no SLIT, or the kernel was started with numa=fake; update the "
            "firmware, or give this host distances if it is a VM itself."};
  }
  return {"distances", Severity::kOk, "the firmware reports how far nodes are from each other"};
}

Finding check_topology(const files::Directory& root) {
  const auto reading = stats::read_topology(root);
  if (!reading) {
    return {"topology", Severity::kError, reading.error().message,
            "Without it the daemon does not start."};
  }
  std::vector<std::string> left_out;
  for (const MissingSource& missing : reading->left_out) {
    left_out.push_back(fmt::format("{}: {}", missing.source, missing.reason));
  }
  if (!left_out.empty()) {
    return {
        "topology", Severity::kWarning, fmt::format("{}", fmt::join(left_out, "; ")),
        "The rest of the host is balanced. The firmware or the kernel contradicts itself there; "
        "an update may fix it."};
  }
  const std::vector<std::string> special = stats::special_hardware(root, reading->topology);
  return {"topology", Severity::kOk,
          special.empty() ? "nothing special: no clusters, memory tiers, memory-side caches or "
                            "unequal CPUs"
                          : fmt::format("{}", fmt::join(special, "; "))};
}

Finding check_cgroup(const files::Directory& root) {
  if (const auto why = stats::why_no_cgroup(root)) {
    return {"cgroup", Severity::kError, *why,
            "Start the kernel with systemd.unified_cgroup_hierarchy=1 and without cgroup_no_v1= or "
            "cgroup_disable=, so that no controller is disabled or in use by cgroup v1."};
  }
  return {"cgroup", Severity::kOk, "cgroup v2 with cpuset, cpu and memory"};
}

Finding check_schedstat(const files::Directory& root) {
  if (const auto why = stats::why_no_schedstat(root)) {
    return {"schedstat", Severity::kError, *why,
            "Use a kernel with CONFIG_SCHED_INFO, such as Debian's."};
  }
  return {"schedstat", Severity::kOk, "the kernel reports how long threads ran and waited"};
}

Finding check_pressure(const files::Directory& root) {
  if (const auto text = root.read("proc/pressure/memory"); !text) {
    return {"pressure", Severity::kWarning,
            "the kernel does not report how long tasks wait for memory, so page migration is not "
            "paused when they do",
            "Start the kernel with psi=1."};
  }
  return {"pressure", Severity::kOk, "the kernel reports how long tasks wait for memory"};
}

Finding check_counters(const files::Directory& root) {
  constexpr std::string_view kWithout = "so remote memory has the same price for every VM";
  if (stats::hands_over_counters(root)) {
    return {"counters", Severity::kNote,
            fmt::format("KVM hands the CPUs' counters over to guests, {}", kWithout)};
  }
  // At levels above the kernel's own, distributions also refuse processes with CAP_PERFMON.
  const std::string text = root.read("proc/sys/kernel/perf_event_paranoid").value_or("");
  const auto paranoid = whole_number<int>(text.substr(0, text.find('\n')));
  if (paranoid.value_or(0) > 2) {
    return {"counters",
            Severity::kNote,
            fmt::format("kernel.perf_event_paranoid is {}, which forbids counting reads from "
                        "memory, {}",
                        *paranoid, kWithout),
            "To give each VM a price of its own, if the CPUs can count such reads:",
            {"sysctl kernel.perf_event_paranoid=2"}};
  }
  return {"counters", Severity::kOk,
          "reads from memory may be counted, if the CPUs can count them"};
}

std::vector<Finding> check_host(const files::Directory& root) {
  return {check_nodes(root),
          check_distances(root),
          check_topology(root),
          check_cgroup(root),
          check_schedstat(root),
          check_pressure(root),
          check_kernel_balancing(root),
          check_sched_ext(root),
          check_cache_scheduling(root),
          check_isolation(root),
          check_counters(root)};
}

}  // namespace vmnuma::tools
