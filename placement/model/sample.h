// SPDX-License-Identifier: Apache-2.0
/// One epoch's raw readings, exactly as the kernel gave them: counters, not rates.
///
/// Recordings keep samples, never derived values, so that a later version can judge a recording
/// again. A reading that could not be obtained is absent and named in `missing`; nothing is ever
/// guessed here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/base/names.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/memory_state.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// One vCPU thread. Times from /proc/PID/task/TID/schedstat (Linux 6.1, fs/proc/base.c): ns since
/// it started.
struct VcpuSample {
  std::int32_t vcpu = 0;
  std::int64_t tid = 0;
  std::int64_t run_ns = 0;
  std::int64_t wait_ns = 0;
  bool operator==(const VcpuSample&) const = default;
};

/// Reads by a VM's vCPU threads that no cache could answer, as the CPUs counted them over some
/// seconds that ended in this epoch; inside and outside the guest, like run time.
struct MemoryReads {
  std::int64_t count = 0;
  CpuTime counted;  ///< run time in which they were counted
  /// Run time in which they should have been counted: more than `counted` where the counters were
  /// shared with other users.
  CpuTime ran;
  std::int64_t cycles = 0;          ///< in `counted`; 0: not counted
  std::int64_t stalled_cycles = 0;  ///< the part of these in which no new work could begin
  bool operator==(const MemoryReads&) const = default;
};

struct VmSample {
  VmId id;
  VmProcess process;
  std::vector<VcpuSample> vcpus;  ///< by vCPU number; a vanished thread is absent
  /// For each of `vcpus`, the CPU that it runs on or ran on last. Empty if that was not requested,
  /// or if one of them could not be read.
  std::vector<CpuId> last_cpus = {};
  std::int64_t throttled_us = 0;  ///< sum of vcpuN/cpu.stat throttled_usec
  std::int32_t weight = 100;      ///< cpu.weight of the scope (cgroup v2: 1..10000, default 100)
  std::optional<std::int64_t> quota_permille;  ///< CPU quota of all vCPUs in thousandths of one CPU
  /// Per topology node, from memory.numa_stat; absent = not read.
  std::optional<std::vector<Bytes>> memory;
  /// Per guest NUMA cell and topology node, from numa_maps; empty = not known.
  std::vector<std::vector<Bytes>> cell_memory;
  std::optional<MemoryState> memory_state;  ///< absent outside cgroup v2 and where unread
  /// Threads of its scope, including those of vhost: pids.current. Absent outside cgroup v2, and
  /// where systemd does not count them.
  std::optional<std::int64_t> threads = std::nullopt;
  /// Share of the last 10 s in which some task of it was runnable and waited for a CPU (PSI).
  /// Absent where the kernel does not report it.
  std::optional<Permille> cpu_waits = std::nullopt;
  /// CPUs that its cgroup lets it run on, ascending: cpuset.cpus.effective of its scope. Absent
  /// outside cgroup v2 and without the cpuset controller.
  std::optional<std::vector<CpuId>> cpus = std::nullopt;
  /// CPU time of its threads other than vCPUs, including those of vhost: what its scope has used
  /// (cpu.stat) less what its vCPUs have run. Absent in epochs in which it was not read.
  std::optional<std::int64_t> beside_us = std::nullopt;
  /// Present only in the epoch in which counting for this VM ended (VMs are counted in turn).
  std::optional<MemoryReads> memory_reads = std::nullopt;
  bool operator==(const VmSample&) const = default;
};

/// Time in which a CPU was not idle, since some fixed moment: elapsed time less the idle time in
/// /proc/stat. Never decreases.
struct CpuSample {
  CpuId id;
  std::int64_t busy_us = 0;
  bool operator==(const CpuSample&) const = default;
};

/// From /sys/devices/system/node/nodeN, meminfo and hugepages/.
struct NodeSample {
  NodeId id;
  Bytes free;
  Bytes total;
  /// Pools that have pages, by page size; absent = not read.
  std::optional<std::vector<HugePagePool>> huge_pages = std::nullopt;
  /// The part of its CPUs' busy time that this daemon's own page migration took, since the daemon
  /// started. Never decreases.
  std::int64_t copying_us = 0;
  bool operator==(const NodeSample&) const = default;
};

/// A source that could not be read this epoch.
struct MissingSource {
  std::string source;  ///< for example "/proc/stat", "VM 'web1' memory.numa_stat"
  std::string reason;
  std::optional<VmId> vm;  ///< set if only this VM is affected
  bool operator==(const MissingSource&) const = default;
};

/// How often threads of two VMs, including those of vhost, woke each other since some fixed moment.
/// Never decreases while both processes live.
struct WakeupSample {
  VmId a;  ///< < b
  VmId b;
  std::int64_t count = 0;
  bool operator==(const WakeupSample&) const = default;
};

/// A BPF program that schedules threads in place of the kernel (Linux 6.12,
/// Documentation/scheduler/sched-ext.rst).
struct SchedExt {
  std::string name;
  bool takes_all = true;  ///< all normal threads; else only those that ask for it (SCHED_EXT)
  bool operator==(const SchedExt&) const = default;
};

/// The kernel's cache-aware scheduling, which draws the threads of a process to one last-level
/// cache (CONFIG_SCHED_CACHE, Linux 7.2). kBuiltIn: only root could see whether it is on; by
/// default it is.
enum class CacheScheduling { kNone, kOff, kOn, kBuiltIn };
[[nodiscard]] constexpr auto names(CacheScheduling) {
  return names_in_order<CacheScheduling>("none", "off", "on", "built-in");
}

struct Sample {
  std::int64_t sequence = 0;      ///< counts epochs since the daemon started, from 1
  Microseconds taken_at;          ///< monotonic
  std::vector<NodeSample> nodes;  ///< by id
  std::vector<CpuSample> cpus;    ///< by id
  std::vector<VmSample> vms;      ///< by id
  /// Share of the time in which some task waited for memory; absent where the kernel does not
  /// report it.
  std::optional<Permille> memory_pressure;
  /// How often tasks had to free memory themselves (direct reclaim) since the host was booted;
  /// absent if the kernel does not report it.
  std::optional<std::int64_t> direct_reclaims;
  /// The kernel's own NUMA balancing (sysctl kernel.numa_balancing, Linux 6.1, sched/core.c), a sum
  /// of flags: 1 = places pages and threads by access, 2 = memory tiers; absent if the kernel has
  /// none.
  std::optional<std::int32_t> kernel_numa_balancing;
  std::optional<SchedExt> sched_ext;  ///< absent: none runs
  CacheScheduling cache_scheduling = CacheScheduling::kNone;
  std::vector<SliceMemory> slices;  ///< those above the VMs' scopes, by path
  std::optional<Bytes> swap_total;  ///< of the host; absent where it is not known
  /// Whether cgroup v2 is mounted with memory_recursiveprot, so that the protection of a VM's scope
  /// also covers the groups below it, which its memory is charged to; absent = not known.
  std::optional<bool> protection_inherited;
  /// By a, b; absent = not counted.
  std::optional<std::vector<WakeupSample>> wakeups;
  std::vector<MissingSource> missing;
  bool operator==(const Sample&) const = default;
};

}  // namespace vmnuma
