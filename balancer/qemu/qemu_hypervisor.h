// SPDX-License-Identifier: Apache-2.0
/// QEMU processes without libvirt as a source of VMs: the running VMs, and their control.
///
/// Problem: VMs started by Proxmox VE, Incus, Kata or a script are visible on the host only as
/// processes. Approach: a QEMU process with vCPU threads is a VM; its description comes from its
/// command line (described_vm.h), its identity from the process. Starts and ends are hinted at
/// (change_watch.h), so nothing is searched while nothing happens. Processes started by libvirt are
/// left to the libvirt adapter. Terms: *pending*, a QEMU process that has no vCPU threads yet.
///
/// QEMU's monitor is not used: it serves one client at a time, which is the program that started
/// the VM, and there is no read-only one. So changes made in QEMU since its start (plugged memory,
/// a pause) are not known; idle threads and the kernel's memory counters are sufficient.
///
/// A VM's id is QEMU's UUID; without one it is derived from its name, so that it is the same after
/// each start. Its domain_id is its process number.
///
/// Properties:
///  - the watch begins before the first look, so no start is missed;
///  - a VM that starts is listed once all of its vCPUs have threads;
///  - a VM that ended is forgotten before its number is reused;
///  - one VM that cannot be read never hides the others;
///  - two VMs with the same UUID or name are two VMs;
///  - anything unusual about a VM is reported once, in take_notices();
///  - our pins that were reset by a cpuset write are restored, others are left as they are;
///  - pins that others make are listed at the next refresh(), though nothing announces them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "balancer/inventory/dirty_domains.h"
#include "balancer/inventory/hypervisor.h"
#include "balancer/qemu/change_watch.h"
#include "balancer/qemu/described_vm.h"
#include "balancer/qemu/known_vms.h"
#include "balancer/qemu/process_table.h"
#include "balancer/qemu/qemu_control.h"
#include "balancer/qemu/threads.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer::qemu {

struct QemuOptions {
  std::string root = "/";  ///< for /proc and /sys
  /// The directory that cgroups named "0::" in /proc/PID/cgroup are relative to. Empty: the first
  /// that exists of sys/fs/cgroup, sys/fs/cgroup/unified (a hybrid host) and sys/fs/cgroup/systemd.
  std::string cgroups;
  std::vector<std::string> program_dirs = {"/usr/bin", "/usr/local/bin", "/usr/libexec",
                                           "/opt/incus/bin", "/opt/kata/bin"};
  /// Selects processes to leave out; if not set, none. For tests on hosts with other QEMU
  /// processes.
  std::function<bool(const FoundProcess&)> is_foreign;
};

class QemuHypervisor final : public Hypervisor {
 public:
  /// Watches nothing yet; the first refresh() does. `on_dirty` as in LibvirtHypervisor. Error: the
  /// root directory cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<Hypervisor>> open(QemuOptions options,
                                                                std::function<void()> on_dirty);
  QemuHypervisor(const QemuHypervisor&) = delete;
  QemuHypervisor& operator=(const QemuHypervisor&) = delete;
  ~QemuHypervisor() override;

  [[nodiscard]] std::string name() const override { return "QEMU processes"; }
  /// See the port; also re-reads every VM's pins. Any thread, one at a time (others wait). Error:
  /// unavailable if nothing can be watched, or /proc cannot be listed.
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override;

  /// Re-reads this VM's threads at the next refresh() and calls on_dirty. Any thread, never blocks.
  void mark_dirty(const VmId& vm) override { dirty_->mark(vm); }

  /// Returns notices about findings since the last call, as sentences. Any thread.
  [[nodiscard]] std::vector<std::string> take_notices() override;
  [[nodiscard]] migration::DomainControl& control() override { return control_; }

 private:
  QemuHypervisor(files::Directory root, QemuOptions options, std::function<void()> on_dirty);
  /// Calls refresh() if it has never been called. Any thread.
  void look_once();
  struct Entry {
    DescribedVm described;
    std::shared_ptr<const migration::ProcessDescriptor> descriptor;
    Threads threads;  ///< as last read
    [[nodiscard]] std::int64_t pid() const { return described.description.process->pid; }
  };
  [[nodiscard]] Result<void> ensure_watching();
  void forget_ended();
  [[nodiscard]] Result<void> look(HowThorough how);
  void consider(const FoundProcess& found, const HostFacts& facts);
  [[nodiscard]] std::optional<DescribedVm> describe_process(const FoundProcess& found,
                                                            const HostFacts& facts);
  void wait_for(const FoundProcess& found, const Threads& threads, std::size_t vcpus);
  void add(const FoundProcess& found, DescribedVm described, const Threads& threads);
  void name(const FoundProcess& found, DescribedVm& vm) const;
  /// What to do with pins of ours that are gone.
  enum class WithReset { kLeft, kRestored };
  void read_known_again(const std::set<VmId>& marked, bool cpuset_written);
  void read_again(const VmId& id, Entry& entry, const std::vector<CpuId>& online, WithReset reset);
  void notice(std::string text);

  const QemuOptions options_;
  const files::Directory root_;
  const std::shared_ptr<DirtyDomains> dirty_;  // shared with the watch's callbacks
  std::atomic<bool> thorough_ = false;
  std::atomic<bool> cpuset_written_ = false;
  KnownVms known_;
  QemuControl control_;

  std::mutex notices_mutex_;
  std::vector<std::string> notices_;

  std::mutex mutex_;                         // guards everything below
  std::optional<files::Directory> cgroups_;  // since the first refresh()
  ProcessTable table_;
  std::map<VmId, Entry> vms_;
  std::set<std::string> logged_;
  std::unique_ptr<ChangeWatch> watch_;  // since the first refresh(); last: its thread ends first
};

}  // namespace vmnuma::balancer::qemu
