// SPDX-License-Identifier: Apache-2.0
/// Parses the files in /proc about CPUs, processes and threads. Pure functions of the text.
///
/// Properties: text that deviates from the format (cut off, trailing junk, a number that is
/// negative or too large) gives the error `corrupt`, which quotes the line; nothing is guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"

namespace vmnuma::stats {

/// /proc/stat (Linux 6.1, fs/proc/stat.c): the lines "cpuN user nice system idle iowait irq softirq
/// steal guest guest_nice" in USER_HZ, which is 100 per second on every architecture that runs KVM.
/// Later kernels may append numbers. Sorted by id.
struct CpuIdleTime {
  CpuId id;
  std::int64_t idle_us = 0;  ///< idle + iowait
  bool operator==(const CpuIdleTime&) const = default;
};
[[nodiscard]] Result<std::vector<CpuIdleTime>> parse_proc_stat(std::string_view text);

struct ProcessStat {
  char state = '?';
  std::uint64_t start_time_ticks = 0;

  /// True if it has ended, but was not reaped by its parent yet.
  [[nodiscard]] bool has_ended() const { return state == 'Z' || state == 'X'; }
};
/// /proc/PID/stat (proc(5), Linux 6.1, fs/proc/array.c). Later kernels may append fields.
[[nodiscard]] Result<ProcessStat> parse_process_stat(std::string_view text);

/// Field 39 of the same file, of a process or a thread: the CPU on which it runs or last ran.
[[nodiscard]] Result<CpuId> parse_last_cpu(std::string_view text);

struct ScheduleTimes {
  std::int64_t run_ns = 0;   ///< ran on a CPU
  std::int64_t wait_ns = 0;  ///< runnable but waiting for a CPU
};
/// /proc/PID/task/TID/schedstat: "run_ns wait_ns slices" (Linux 6.1, fs/proc/base.c).
[[nodiscard]] Result<ScheduleTimes> parse_schedstat(std::string_view text);

/// /proc/vmstat: the sum of all lines allocstall_ZONE, direct reclaims since boot (Linux 6.1,
/// include/linux/vm_event_item.h and mm/vmstat.c). Error: corrupt, even if only these lines are
/// missing.
[[nodiscard]] Result<std::int64_t> parse_direct_reclaims(std::string_view text);

/// /proc/sys/kernel/numa_balancing: one number (Linux 6.1, kernel/sched/core.c,
/// sysctl_numa_balancing). Error: corrupt.
[[nodiscard]] Result<std::int32_t> parse_numa_balancing(std::string_view text);

/// A pid file: a number, with or without a newline.
[[nodiscard]] Result<std::int64_t> parse_pid_file(std::string_view text);

/// Returns whether /proc/PID/cmdline (arguments, each terminated by a NUL) belongs to a QEMU that
/// libvirt started for this VM: it has the arguments "-uuid" and the VM's UUID (libvirt 9.0,
/// src/qemu/qemu_command.c: always given).
[[nodiscard]] bool is_command_line_of(const VmId& id, std::string_view cmdline);

/// Returns the process's path in the cgroup v2 hierarchy: the line "0::/path" of /proc/PID/cgroup.
/// Nothing if there is no such line.
[[nodiscard]] std::optional<std::string> parse_process_cgroup(std::string_view text);

/// Returns the vCPU number in the contents of /proc/PID/task/TID/comm, "CPU 3/KVM\n" or "CPU
/// 3/TCG\n" (QEMU 7.2, accel/kvm/kvm-accel-ops.c and accel/tcg/tcg-accel-ops-mttcg.c). Nothing for
/// other threads.
[[nodiscard]] std::optional<std::int32_t> vcpu_of_thread_name(std::string_view comm);

}  // namespace vmnuma::stats
