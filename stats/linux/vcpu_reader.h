// SPDX-License-Identifier: Apache-2.0
/// Reads the counters of one VM's vCPU threads, through descriptors that stay open from epoch to
/// epoch.
///
/// Problem: thousands of threads are read every two seconds, and opening a thread's file costs four
/// times as much as reading it. vCPUs are plugged and unplugged without an event. Approach: each
/// thread's schedstat stays open. Reading through the descriptor of a thread that ended fails, and
/// the number of subdirectories of the VM's thread group changes when a thread is added; either
/// makes the reader search for threads again. Quotas are read only when the caller asks for it
/// (cpu_limit.h explains what that saves).
///
/// Properties:
///  - a kept descriptor never yields the numbers of a later thread;
///  - a plugged or unplugged vCPU is noticed in the same epoch;
///  - an unreadable vCPU is absent and named, and searched for again next time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/sample.h"
#include "stats/files/directory.h"
#include "stats/linux/cpu_limit.h"
#include "stats/linux/missing_log.h"
#include "stats/linux/qemu_process.h"

namespace vmnuma::stats {

struct VcpuCounters {
  std::vector<VcpuSample> vcpus;  ///< by number
  std::int64_t throttled_us = 0;  ///< sum over all vCPUs since the last reading
};

/// One thread at a time.
class VcpuReader {
 public:
  /// `tasks` is /proc/PID/task. `thread_group` contains the cgroups vcpuN; without it, threads are
  /// found by name and have no quota.
  VcpuReader(files::Directory tasks, std::optional<files::Directory> thread_group)
      : tasks_(std::move(tasks)), thread_group_(std::move(thread_group)) {}

  /// Reads the counters of all vCPUs that exist now. `scratch` is the shared read buffer. Adds to
  /// `log` what could not be read of single vCPUs. Errors: those of the search for threads.
  [[nodiscard]] Result<VcpuCounters> read(std::string& scratch, MissingLog& log);

  /// Returns the CPU on which each of these vCPUs, which must just have been read, runs or last
  /// ran; nothing if one of them cannot be read. Opens a file for each vCPU, so use it for few VMs
  /// only.
  [[nodiscard]] std::vector<CpuId> last_cpus(const std::vector<VcpuSample>& vcpus) const;

  /// Reads every vCPU's quota, which is slow and therefore done only occasionally. Errors: those of
  /// the search for threads; quotas that cannot be read are named by each read().
  [[nodiscard]] Result<void> read_quotas(std::string& scratch);

  /// Returns the CPU time that all vCPUs together may use, in thousandths of one CPU; a vCPU
  /// without a quota counts as 1000. Nothing if no vCPU has a quota below 1000. As of the last
  /// read_quotas().
  [[nodiscard]] std::optional<std::int64_t> quota_permille() const;

 private:
  struct Vcpu {
    VcpuThread thread;
    files::KeptFile schedstat;
    CpuLimit limit;
  };
  struct Unreadable {
    std::int32_t vcpu = 0;
    std::string reason;
  };

  [[nodiscard]] const files::Directory& watched() const {
    return thread_group_ ? *thread_group_ : tasks_;
  }
  [[nodiscard]] bool threads_may_have_changed() const;
  [[nodiscard]] Result<void> find_threads(std::string& scratch);
  [[nodiscard]] std::vector<VcpuSample> read_schedstats(std::string& scratch,
                                                        std::vector<Unreadable>& unreadable);
  void read_quota_of(Vcpu& vcpu, std::string& scratch) const;

  files::Directory tasks_;
  std::optional<files::Directory> thread_group_;
  std::vector<Vcpu> vcpus_;           ///< by number
  std::vector<Unreadable> unopened_;  ///< threads that exist but could not be opened
  std::optional<std::uint64_t>
      link_count_;  ///< as of the last search for threads; nothing: search again
};

}  // namespace vmnuma::stats
