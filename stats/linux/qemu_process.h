// SPDX-License-Identifier: Apache-2.0
/// Finds the QEMU process of a VM and its vCPU threads, as any user and without asking libvirt or
/// QEMU.
///
/// Approach: an inventory that found the VM by its process passes the pid; otherwise libvirt writes
/// it to /run/libvirt/qemu/NAME.pid. Such a file can be stale and its pid reused, so the process is
/// accepted only if its command line names the VM's UUID. From then on the process is identified by
/// a descriptor of /proc/PID, which never refers to another process. vCPU threads are found in the
/// cgroups vcpuN where libvirt has put them (cgroup v2), otherwise by the names that QEMU gives
/// them.
///
/// Properties: a stale pid file, another program or another VM under that pid, and a process that
/// ended give errors, never the numbers of another process.
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

/// Finds the process of a VM. Errors: not-found (no pid file: the VM does not run, or not under the
/// system libvirtd), vanished (the process ended), invalid-argument (the name is not a file name),
/// corrupt (the pid belongs to another program), permission-denied, io.
[[nodiscard]] Result<QemuProcess> find_qemu_process(const files::Directory& root,
                                                    const std::string& vm_name, const VmId& id);

/// Opens the process `known`, found by the inventory, if it still runs. Errors: vanished (it ended,
/// or its pid was reused), permission-denied, io.
[[nodiscard]] Result<QemuProcess> open_qemu_process(const files::Directory& root,
                                                    const VmProcess& known);

/// Returns whether `cgroup` contains only the VM of process `pid`, so that its counters are the
/// VM's. The VM's helpers (swtpm, virtiofsd, passt) and kernel threads are allowed. False if this
/// cannot be read.
[[nodiscard]] bool is_alone_in(const files::Directory& cgroup, const files::Directory& root,
                               std::int64_t pid);

/// Checks that the process still runs. Error: vanished if it ended.
[[nodiscard]] Result<void> check_alive(const QemuProcess& process);

struct VcpuThread {
  std::int32_t vcpu = 0;
  std::int64_t tid = 0;
  auto operator<=>(const VcpuThread&) const = default;
};

/// Returns the threads in the cgroups vcpuN of `thread_group` (see cgroup_formats.h), by vCPU. If a
/// group has several threads, the one that QEMU named after the vCPU is returned: since Linux 6.12,
/// KVM's huge-page recovery worker is a thread of the process (kvm_mmu_start_lpage_recovery,
/// arch/x86/kvm/mmu/mmu.c), in the group of the vCPU that ran first. A vCPU without exactly one
/// such thread is being plugged or unplugged, and is left out. `tasks` is /proc/PID/task.
[[nodiscard]] Result<std::vector<VcpuThread>> vcpu_threads_by_cgroup(
    const files::Directory& thread_group, const files::Directory& tasks);

/// Returns the threads named "CPU N/KVM" or "CPU N/TCG", by vCPU. `tasks` is /proc/PID/task.
[[nodiscard]] Result<std::vector<VcpuThread>> vcpu_threads_by_name(const files::Directory& tasks);

}  // namespace vmnuma::stats
