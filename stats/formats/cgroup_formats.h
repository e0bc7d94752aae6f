// SPDX-License-Identifier: Apache-2.0
/// Parses the cgroup v2 files of a VM (Linux 6.1, Documentation/admin-guide/cgroup-v2.rst) and the
/// paths where libvirt 9.0 and other managers put a VM. Pure functions of the text.
///
/// Terms. scope: the cgroup of one VM, "/machine.slice/machine-qemu\x2d3\x2dweb1.scope". thread
/// group: the cgroup with its threads in emulator/, vcpu0/, vcpu1/ and iothread1/; with systemd
/// that is libvirt/ in the scope, without systemd the scope itself.
///
/// Properties: as in proc_formats.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/node_bytes.h"

namespace vmnuma::stats {

/// Where a VM's files are, relative to the mount point of cgroup v2, without a leading '/'.
struct VmCgroup {
  std::string scope;
  std::string thread_group;
  bool operator==(const VmCgroup&) const = default;
};
/// Derives a VM's cgroups from that of QEMU's main thread (parse_process_cgroup), which libvirt
/// keeps in emulator/. Starting from the process avoids having to guess how the partition and the
/// VM's name are escaped and truncated. Nothing if the path does not end in "/emulator".
[[nodiscard]] std::optional<VmCgroup> vm_cgroup_of(std::string_view emulator_path);

/// Returns the scope of a process that libvirt did not start: its whole cgroup, however deep, such
/// as "qemu.slice/100.scope" below the mount point. Nothing for the root.
[[nodiscard]] std::optional<std::string> scope_of_process(std::string_view path);

/// Returns the number in a directory name "vcpuN"; nothing for other names.
[[nodiscard]] std::optional<std::int32_t> vcpu_of_cgroup_name(std::string_view name);

/// cgroup.threads: one thread id per line, possibly none.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_cgroup_threads(std::string_view text);

/// cpu.stat: throttled_usec, the time for which the group was runnable but had used up its quota,
/// in microseconds. Error: corrupt, even if only this line is missing (the cpu controller is off).
[[nodiscard]] Result<std::int64_t> parse_throttled_us(std::string_view cpu_stat);

/// cpu.stat: usage_usec, the CPU time of the group and those below it, in microseconds. Error:
/// corrupt.
[[nodiscard]] Result<std::int64_t> parse_used_us(std::string_view cpu_stat);

/// pids.current: the number of threads in the group and those below it.
[[nodiscard]] Result<std::int64_t> parse_thread_count(std::string_view text);

/// cpu.weight: 1 to 10000. 0, the weight of a group that runs only when no other does (cpu.idle),
/// counts as 1.
[[nodiscard]] Result<std::int32_t> parse_cpu_weight(std::string_view text);

/// cpu.max, "max 100000" or "50000 100000": the quota in thousandths of one CPU, rounded down;
/// nothing if there is no limit.
[[nodiscard]] Result<std::optional<std::int64_t>> parse_cpu_max(std::string_view text);

/// memory.numa_stat: the VM's memory by node, ascending; the sum of the lines `anon` and `shmem`.
///
/// anon is private RAM (and QEMU's own heap); shmem is shared RAM (memfd, /dev/shm), which is also
/// included in the line `file`. The rest of `file` is page cache of disk images, which is not the
/// guest's memory. hugetlbfs pages are in none of this file's lines: see numa_maps.h. Figures are
/// up to about 2 s old.
[[nodiscard]] Result<std::vector<NodeBytes>> parse_memory_numa_stat(std::string_view text);

}  // namespace vmnuma::stats
