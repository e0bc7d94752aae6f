// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/vm_reader.h"

#include <algorithm>
#include <utility>

#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/cgroup_formats.h"
#include "stats/formats/memory_formats.h"
#include "stats/formats/numa_maps.h"
#include "stats/formats/proc_formats.h"
#include "stats/linux/memory_reader.h"
#include "stats/linux/missing_log.h"

namespace vmnuma::stats {
namespace {

constexpr std::string_view kCgroupMount = "sys/fs/cgroup/";

/// Returns whether the cgroup v2 hierarchy is mounted at sys/fs/cgroup. On a hybrid host it is
/// mounted at unified/ below that, and is useless because it has no controllers.
bool has_cgroup_v2(const files::Directory& root) {
  return root.file(std::string(kCgroupMount) + "cgroup.controllers").has_value();
}

/// Returns `memory` in the order of the topology's nodes.
Result<std::vector<Bytes>> by_topology(const std::vector<NodeBytes>& memory,
                                       const Topology& topology) {
  std::vector<Bytes> ordered(topology.nodes.size());
  for (const NodeBytes& part : memory) {
    const auto index = topology.index_of(part.node);
    if (index) {
      ordered[*index] = part.bytes;
    } else if (part.bytes > Bytes{}) {
      return failure(ErrorCode::kCorrupt, "there is memory on node " +
                                              std::to_string(part.node.value) +
                                              ", which was not there when the topology was read");
    }
  }
  return ordered;
}

/// Logs the vCPUs that should exist but do not.
void log_absent_vcpus(const VmDescription& vm, const std::vector<VcpuSample>& found,
                      MissingLog& log) {
  for (const std::int32_t vcpu : vm.vcpus) {
    const auto is_this = [&](const VcpuSample& sample) { return sample.vcpu == vcpu; };
    if (std::none_of(found.begin(), found.end(), is_this)) {
      log.add("vCPU " + std::to_string(vcpu), "no counters of its thread");
    }
  }
}

}  // namespace

Result<VmReader::Cgroups> VmReader::cgroups_of_libvirt(const files::Directory& root,
                                                       const std::string& path) {
  Cgroups cgroups;
  const auto cgroup = vm_cgroup_of(path);
  if (!cgroup) {
    return cgroups;
  }
  VMNUMA_ASSIGN_OR_RETURN(cgroups.scope, root.directory(std::string(kCgroupMount) + cgroup->scope));
  VMNUMA_ASSIGN_OR_RETURN(cgroups.thread_group,
                          root.directory(std::string(kCgroupMount) + cgroup->thread_group));
  cgroups.scope_path = cgroup->scope;
  return cgroups;
}

/// Returns no cgroup if it is shared with other processes, because its counters then say nothing
/// about this VM.
Result<VmReader::Cgroups> VmReader::cgroups_of_process(const files::Directory& root,
                                                       const std::string& path, std::int64_t pid) {
  Cgroups cgroups;
  const auto own = scope_of_process(path);
  if (!own) {
    return cgroups;
  }
  VMNUMA_ASSIGN_OR_RETURN(auto scope, root.directory(std::string(kCgroupMount) + *own));
  if (is_alone_in(scope, root, pid)) {
    cgroups.scope_path = *own;
    cgroups.counts_memory = scope.file("memory.numa_stat").has_value();
    cgroups.scope = std::move(scope);
  }
  return cgroups;
}

Result<VmReader> VmReader::open(const files::Directory& root, const VmDescription& vm) {
  VMNUMA_ASSIGN_OR_RETURN(auto process, vm.process ? open_qemu_process(root, *vm.process)
                                                   : find_qemu_process(root, vm.name, vm.id));
  VMNUMA_ASSIGN_OR_RETURN(auto tasks, process.directory.directory("task"));
  VMNUMA_ASSIGN_OR_RETURN(auto cgroup_text, process.directory.read("cgroup"));
  Cgroups cgroups;
  if (const auto path = has_cgroup_v2(root) ? parse_process_cgroup(cgroup_text) : std::nullopt) {
    VMNUMA_ASSIGN_OR_RETURN(cgroups, vm.process
                                         ? cgroups_of_process(root, *path, process.identity.pid)
                                         : cgroups_of_libvirt(root, *path));
  }
  VcpuReader vcpus(std::move(tasks), std::move(cgroups.thread_group));
  return VmReader(vm.domain_id, std::move(process), std::move(cgroup_text), std::move(cgroups),
                  std::move(vcpus));
}

Result<VmSample> VmReader::read(const VmDescription& vm, Extent extent, ReadContext& context) {
  if (extent == Extent::kFull) {
    VMNUMA_RETURN_IF_ERROR(read_slow_sources(vm, context));
  }
  MissingLog log(vm);
  VMNUMA_ASSIGN_OR_RETURN(auto counters, vcpus_.read(context.scratch, log));
  if (counters.vcpus.empty()) {
    VMNUMA_RETURN_IF_ERROR(check_alive(process_));
    return failure(ErrorCode::kIo,
                   log.entries().empty()
                       ? "its process has no vCPU threads"
                       : "none of its vCPU threads can be read: " + log.entries().front().reason);
  }
  if (log.entries().empty()) {
    log_absent_vcpus(vm, counters.vcpus, log);
  }
  // Both are read right after the vCPUs' times, so that all values are from the same moment.
  std::vector<CpuId> last_cpus;
  if (context.last_cpus) {
    last_cpus = vcpus_.last_cpus(counters.vcpus);
  }
  std::optional<std::int64_t> beside_us;
  if (extent == Extent::kFull) {  // because the kernel has to sum up per-CPU counters
    beside_us = read_beside_us(counters.vcpus);
  }
  kept_.throttled_us += counters.throttled_us +
                        scope_limit_.throttled_us_since_last(context.scratch) +
                        thread_group_limit_.throttled_us_since_last(context.scratch);
  context.missing.insert(context.missing.end(), slow_missing_.begin(), slow_missing_.end());
  context.missing.insert(context.missing.end(), log.entries().begin(), log.entries().end());
  VmSample sample = kept_;
  sample.id = vm.id;
  sample.process = process_.identity;
  sample.vcpus = std::move(counters.vcpus);
  sample.last_cpus = std::move(last_cpus);
  sample.beside_us = beside_us;
  sample.cell_memory = cell_memory_.cells();
  return sample;
}

/// Returns the CPU time of the VM's other threads. If it is unknown, it counts as load of other
/// processes.
std::optional<std::int64_t> VmReader::read_beside_us(const std::vector<VcpuSample>& vcpus) const {
  const auto used_us = scope_ ? read_parsed(*scope_, "cpu.stat", parse_used_us)
                              : failure(ErrorCode::kNotFound, "it has no cgroup of its own");
  if (!used_us) {
    return std::nullopt;
  }
  std::int64_t vcpus_ns = 0;
  for (const VcpuSample& vcpu : vcpus) {
    vcpus_ns += vcpu.run_ns;
  }
  return std::max<std::int64_t>(*used_us - vcpus_ns / 1000, 0);
}

Result<void> VmReader::read_slow_sources(const VmDescription& vm, ReadContext& context) {
  VMNUMA_RETURN_IF_ERROR(check_alive(process_));
  VMNUMA_ASSIGN_OR_RETURN(const auto cgroup_text, process_.directory.read("cgroup"));
  if (cgroup_text != cgroup_text_) {
    return failure(ErrorCode::kVanished, "its process has moved to another cgroup");
  }
  VMNUMA_RETURN_IF_ERROR(vcpus_.read_quotas(context.scratch));
  MissingLog log(vm);
  read_weight_and_quota(log, context.scratch);
  read_memory(vm, context, log);
  read_memory_state(context.sequence, log);
  read_threads_and_waits();
  read_cpus(log);
  slow_missing_ = log.entries();
  return {};
}

void VmReader::read_weight_and_quota(MissingLog& log, std::string& scratch) {
  if (!scope_) {
    log.add("cgroup",
            "its process is in no cgroup of its own below cgroup v2, so its weight, quota and "
            "throttled time are unknown");
    return;
  }
  if (const auto weight = read_parsed(*scope_, "cpu.weight", parse_cpu_weight)) {
    kept_.weight = *weight;
  } else {
    log.add("cpu.weight", weight.error().message);
  }
  kept_.quota_permille = vcpus_.quota_permille();
  scope_limit_.refresh(*scope_, "", scratch);
  thread_group_limit_.refresh(*scope_, "libvirt", scratch);
  for (const CpuLimit* limit : {&scope_limit_, &thread_group_limit_}) {
    if (const auto quota = limit->quota_permille()) {
      kept_.quota_permille = std::min(kept_.quota_permille.value_or(*quota), *quota);
    }
    if (!limit->error().empty()) {
      log.add("cpu.max", limit->error());
    }
  }
}

void VmReader::read_memory(const VmDescription& vm, ReadContext& context, MissingLog& log) {
  const bool by_mappings = !scope_ || !counts_memory_ || vm.huge_page_size > Bytes{};
  const auto memory = by_mappings
                          ? read_parsed(process_.directory, "numa_maps", sum_guest_memory)
                          : read_parsed(*scope_, "memory.numa_stat", parse_memory_numa_stat);
  auto ordered = memory ? by_topology(*memory, context.topology)
                        : Result<std::vector<Bytes>>(tl::unexpected(memory.error()));
  if (ordered) {
    kept_.memory = std::move(*ordered);
    const auto cells =
        cell_memory_.refresh(process_.directory, vm, *kept_.memory, context.topology);
    if (!cells) {
      log.add("memory of its guest NUMA cells", cells.error().message);
    }
    return;
  }
  kept_.memory.reset();
  cell_memory_.forget();
  log.add(by_mappings ? "numa_maps" : "memory.numa_stat", ordered.error().message);
}

/// A VM outside cgroup v2 has no memory state; that is reported together with its weight.
void VmReader::read_memory_state(std::int64_t sequence, MissingLog& log) {
  kept_.memory_state.reset();
  if (!scope_ || !counts_memory_) {
    return;
  }
  auto state = stats::read_memory_state(*scope_, process_.directory);
  if (!state) {
    log.add("memory limits", state.error().message);
    return;
  }
  state->scope = scope_path_;
  state->read_in = sequence;
  kept_.memory_state = std::move(*state);
}

/// No decision depends on these values. On a kernel that lacks them they are absent, and nothing is
/// degraded.
void VmReader::read_threads_and_waits() {
  kept_.threads.reset();
  kept_.cpu_waits.reset();
  if (!scope_) {
    return;
  }
  if (const auto threads = read_parsed(*scope_, "pids.current", parse_thread_count)) {
    kept_.threads = *threads;
  }
  if (const auto waits = read_parsed(*scope_, "cpu.pressure", parse_cpu_waits)) {
    kept_.cpu_waits = *waits;
  }
}

/// If the file cannot be read, the VM counts as unconfined, and the file is named.
void VmReader::read_cpus(MissingLog& log) {
  kept_.cpus.reset();
  if (!scope_) {
    return;
  }
  auto cpus = read_parsed(*scope_, "cpuset.cpus.effective", parse_cpu_list);
  if (cpus) {
    kept_.cpus = std::move(*cpus);
  } else if (cpus.error().code != ErrorCode::kNotFound) {
    log.add("cpuset.cpus.effective", cpus.error().message);
  }
}

}  // namespace vmnuma::stats
