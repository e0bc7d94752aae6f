// SPDX-License-Identifier: Apache-2.0
/// Finds the online CPUs that VMs may not use.
///
/// Problem: administrators dedicate CPUs to one workload at boot (isolcpus=), with a cpuset
/// partition, or by confining the slice of the VMs. If a VM were pinned to a whole node, it would
/// run on those CPUs, too; and on isolated CPUs, over which the scheduler does not spread threads,
/// all of its threads could end up on one CPU. Approach: VMs may use the CPUs of their slices (of
/// the root if there are none yet) except the isolated ones. The effective CPUs of a cgroup exclude
/// those of another partition (Linux 6.1 and 6.12, Documentation/admin-guide/cgroup-v2.rst,
/// cpuset).
///
/// nohz_full= alone reserves no CPU: the scheduler spreads threads over those CPUs as over others,
/// and a host may set it for all CPUs but one.
///
/// Properties:
///  - if a file is missing, it reserves nothing;
///  - if VMs have several slices, a CPU that one of them may use is not reserved; a VM that may not
///    use it is confined (balancer/controller/confinement.h).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// The cgroups, relative to the root of cgroup v2, in which libvirt (or systemd-machined) and
/// Proxmox VE put VMs.
inline constexpr std::array<std::string_view, 2> kVmSlices = {"machine.slice", "qemu.slice"};

/// All lists are ascending.
struct CpuIsolation {
  std::vector<CpuId> at_boot;  ///< isolcpus=
  std::vector<CpuId>
      in_partitions;  ///< those of isolated partitions, including a partition for VMs
  /// The CPUs that the slices of VMs, or the root, may use; absent: all.
  std::optional<std::vector<CpuId>> of_vms;

  [[nodiscard]] bool keeps(CpuId cpu) const;
};

/// Reads which CPUs are isolated. `root` is the host's root directory.
/// sys/devices/system/cpu/isolated is from drivers/base/cpu.c (Linux 6.1),
/// sys/fs/cgroup/cpuset.cpus.isolated from kernel/cgroup/cpuset.c (Linux 6.12; on kernels without
/// it, only an isolated partition that is itself a slice of VMs is known). Errors: corrupt,
/// permission-denied, io.
[[nodiscard]] Result<CpuIsolation> read_cpu_isolation(const files::Directory& root);

/// Returns the files that it depends on, relative to the root. Each may appear and disappear.
[[nodiscard]] std::vector<std::string> cpu_isolation_files();

/// Returns the state of the slice as a partition (cpuset.cpus.partition): "member", "root",
/// "isolated", "root invalid (REASON)"; empty if there is no such slice or file.
[[nodiscard]] std::string partition_of(const files::Directory& root, std::string_view slice);

}  // namespace vmnuma::stats
