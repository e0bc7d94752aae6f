// SPDX-License-Identifier: Apache-2.0
/// Finding the QEMU process of a VM and its vCPU threads, for any user and without asking libvirt
/// or QEMU.
///
/// Approach: an inventory that found the VM by its process passes the pid; otherwise libvirt writes
/// it to /run/libvirt/qemu/NAME.pid. Such a file can be stale and its pid reused, so the process is
/// accepted only if its command line names the VM's UUID. From then on it is held by a descriptor
/// of /proc/PID, which never leads to another process. vCPU threads are found in the cgroups vcpuN
/// where libvirt has put them (cgroup v2), otherwise by the names that QEMU gives them.
///
/// Properties: a stale pid file, another program or another VM under that pid, and a process that
/// ended are errors, never the numbers of another process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

struct QemuProcess {
  files::Directory directory;  ///< /proc/PID
  VmProcess identity;
};

/// Errors: not-found (no pid file: the VM does not run, or not under the system libvirtd), vanished
/// (the process ended), invalid-argument (a name that is no file name), corrupt (the pid belongs to
/// another program), permission-denied, io.
[[nodiscard]] Result<QemuProcess> find_qemu_process(const files::Directory& root,
                                                    const std::string& vm_name, const VmId& id);

/// For a process that the inventory knows: `known`, if it still runs. Errors: vanished (it ended,
/// or its pid was reused), permission-denied, io.
[[nodiscard]] Result<QemuProcess> open_qemu_process(const files::Directory& root,
                                                    const VmProcess& known);

/// Whether `cgroup` holds the VM of process `pid` and nothing else, so that its counters are the
/// VM's: it may also contain the VM's helpers (swtpm, virtiofsd, passt) and kernel threads. False
/// also if that cannot be read.
[[nodiscard]] bool is_alone_in(const files::Directory& cgroup, const files::Directory& root,
                               std::int64_t pid);

/// Error: vanished if the process ended.
[[nodiscard]] Result<void> check_alive(const QemuProcess& process);

struct VcpuThread {
  std::int32_t vcpu = 0;
  std::int64_t tid = 0;
  auto operator<=>(const VcpuThread&) const = default;
};

/// The threads in the cgroups vcpuN of `thread_group` (see cgroup_formats.h), by vCPU. If a group
/// has several, it is the one that QEMU named after the vCPU: from Linux 6.12 on KVM's worker for
/// huge pages belongs to the process (kvm_mmu_start_lpage_recovery, arch/x86/kvm/mmu/mmu.c), and to
/// the group of the vCPU that ran first. A vCPU without exactly one such thread is being plugged or
/// unplugged, and is left out. `tasks` is /proc/PID/task.
[[nodiscard]] Result<std::vector<VcpuThread>> vcpu_threads_by_cgroup(
    const files::Directory& thread_group, const files::Directory& tasks);

/// The threads named "CPU N/KVM" or "CPU N/TCG", by vCPU. `tasks` is /proc/PID/task.
[[nodiscard]] Result<std::vector<VcpuThread>> vcpu_threads_by_name(const files::Directory& tasks);

}  // namespace vmnuma::stats
