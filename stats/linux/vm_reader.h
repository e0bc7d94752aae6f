// SPDX-License-Identifier: Apache-2.0
/// Takes the readings of one VM while it runs.
///
/// Problem: some sources are read every epoch for thousands of threads and must be cheap; others
/// are expensive (memory.numa_stat sums up per-CPU counters, numa_maps walks page tables) but
/// change slowly. Approach: a full reading covers everything; a counter reading has fresh counters
/// of the vCPU threads and repeats weight, quota and memory from the last full reading. The sampler
/// decides which VM gets a full reading. Memory is read from memory.numa_stat of the VM's scope. It
/// is read from numa_maps if the VM uses hugetlbfs pages, which no cgroup file shows by node, or if
/// it has no cgroup of its own in cgroup v2 or one without the memory controller. The memory of
/// guest NUMA cells comes from cell_memory.h.
///
/// Properties:
///  - numbers of another process are never returned;
///  - if the process ended or moved to another cgroup, that is an error;
///  - what cannot be read is named at every reading until it can be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"
#include "stats/linux/cell_memory.h"
#include "stats/linux/cpu_limit.h"
#include "stats/linux/missing_log.h"
#include "stats/linux/qemu_process.h"
#include "stats/linux/vcpu_reader.h"

namespace vmnuma::stats {

/// Shared by all readings of an epoch.
struct ReadContext {
  const Topology& topology;
  std::string& scratch;                 ///< the read buffer
  std::vector<MissingSource>& missing;  ///< what could not be read is added here
  std::int64_t sequence = 0;            ///< of the sample that is being read
  bool last_cpus = false;               ///< also read which CPU each vCPU is on
};

enum class Extent { kCounters, kFull };

/// One thread at a time. The members are what is kept open or remembered for one run of a VM, by
/// source.
class VmReader {
 public:
  /// Finds the process and opens the files that stay open. `root` is the host's root directory.
  /// Errors: those of find_qemu_process and open_qemu_process.
  [[nodiscard]] static Result<VmReader> open(const files::Directory& root, const VmDescription& vm);

  /// Returns whether the reader was opened for this run of the VM.
  [[nodiscard]] bool is_of(const VmDescription& vm) const {
    return domain_id_ == vm.domain_id && (!vm.process || *vm.process == process_.identity);
  }

  /// Reads the VM; the first reading must be full. A vCPU or source that cannot be read is added to
  /// `context.missing`. Errors: vanished or not-found (this run of the VM is over, or it moved to
  /// another cgroup: open a new reader), and those of reading its threads. On error nothing is
  /// added to `context.missing`.
  [[nodiscard]] Result<VmSample> read(const VmDescription& vm, Extent extent, ReadContext& context);

 private:
  /// The VM's cgroups in cgroup v2, to the extent that they exist.
  struct Cgroups {
    std::string scope_path;
    std::optional<files::Directory> scope;
    std::optional<files::Directory> thread_group;
    bool counts_memory = true;
  };
  [[nodiscard]] static Result<Cgroups> cgroups_of_libvirt(const files::Directory& root,
                                                          const std::string& path);
  [[nodiscard]] static Result<Cgroups> cgroups_of_process(const files::Directory& root,
                                                          const std::string& path,
                                                          std::int64_t pid);
  VmReader(std::int32_t domain_id, QemuProcess process, std::string cgroup_text, Cgroups cgroups,
           VcpuReader vcpus)
      : domain_id_(domain_id),
        process_(std::move(process)),
        cgroup_text_(std::move(cgroup_text)),
        scope_path_(std::move(cgroups.scope_path)),
        scope_(std::move(cgroups.scope)),
        counts_memory_(cgroups.counts_memory),
        vcpus_(std::move(vcpus)) {}

  [[nodiscard]] Result<void> read_slow_sources(const VmDescription& vm, ReadContext& context);
  void read_weight_and_quota(MissingLog& log, std::string& scratch);
  void read_memory(const VmDescription& vm, ReadContext& context, MissingLog& log);
  void read_memory_state(std::int64_t sequence, MissingLog& log);
  void read_threads_and_waits();
  [[nodiscard]] std::optional<std::int64_t> read_beside_us(
      const std::vector<VcpuSample>& vcpus) const;
  void read_cpus(MissingLog& log);

  std::int32_t domain_id_;
  QemuProcess process_;
  std::string cgroup_text_;                ///< /proc/PID/cgroup when the reader was opened
  std::string scope_path_;                 ///< path of `scope_`, below the mount of cgroup v2
  std::optional<files::Directory> scope_;  ///< the VM's cgroup; nothing without cgroup v2
  bool counts_memory_ = true;              ///< the scope has memory.numa_stat
  VcpuReader vcpus_;
  CpuLimit scope_limit_;         ///< set by an administrator through systemd (CPUQuota=)
  CpuLimit thread_group_limit_;  ///< libvirt's global_quota, if it has a group of its own below the
                                 ///< scope
  VmSample kept_;  ///< what the next reading repeats: slow sources, and throttled time so far
  CellMemory cell_memory_;
  std::vector<MissingSource> slow_missing_;  ///< as of the last full reading
};

}  // namespace vmnuma::stats
