// SPDX-License-Identifier: Apache-2.0
/// Takes one epoch's raw readings of the host and its VMs.
///
/// Problem: 4000 vCPU threads must be read every two seconds at a cost of less than a hundredth of
/// a core, while VMs and vCPUs come and go and files become unreadable; and a number taken from the
/// wrong process would move the wrong VM. Approach: a reader per VM keeps its descriptors open
/// across epochs (linux/vm_reader.h). Counters are read every epoch; slow sources are read in turn:
/// `slow_vms_per_epoch` VMs per epoch, plus new VMs and those whose memory is being moved. Between
/// its turns a VM's last weight, quota and memory are repeated, so they are at most ceil(VMs /
/// slow_vms_per_epoch) epochs old.
///
/// Properties:
///  - nothing throws or aborts, whatever the host's files contain;
///  - a value that could not be read is absent, and its source is named in `missing` with the
///    reason;
///  - a VM has no numbers at all if its process cannot be verified;
///  - a restarted VM and a plugged vCPU are seen in the same epoch;
///  - no descriptors are kept for VMs that are no longer requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"
#include "stats/formats/proc_formats.h"
#include "stats/linux/vm_reader.h"
#include "stats/wakeup_totals.h"

namespace vmnuma::stats {

struct SamplerOptions {
  /// How many VMs have their slow sources read per epoch.
  std::size_t slow_vms_per_epoch = 25;
};

struct SampleRequest {
  std::int64_t sequence = 0;
  Microseconds now;                           ///< monotonic
  const std::vector<VmDescription>& running;  ///< any order
  const std::set<VmId>& moving;               ///< these get a full reading every epoch
  const std::set<VmId>& spilling;             ///< for these the last CPUs are read, too
};

/// One thread at a time; reading blocks for as long as the kernel takes to produce the files. Needs
/// one descriptor for each vCPU and about five for each VM: if that exceeds RLIMIT_NOFILE, readings
/// are missing. Needs CAP_SYS_PTRACE only for VMs on hugetlbfs pages.
class Sampler {
 public:
  /// `root` is the host's root directory.
  Sampler(files::Directory root, Topology topology, SamplerOptions options)
      : root_(std::move(root)), topology_(std::move(topology)), options_(options) {}

  [[nodiscard]] Sample sample(const SampleRequest& request);
  /// Adopts a changed topology: from now on everything is read afresh, in the order of its nodes.
  void set_topology(Topology topology);

 private:
  void read_nodes(Sample& sample);
  struct PoolFile {
    Bytes page_size;
    files::KeptFile nr_hugepages;
  };
  void read_huge_pages(NodeSample& node);
  [[nodiscard]] Result<std::vector<PoolFile>> open_pools(NodeId node) const;
  void read_cpus(Sample& sample);
  void read_kernel_scheduling(Sample& sample);
  void read_protection_inherited(Sample& sample);
  void read_slices(Sample& sample);
  void read_wakeups(Sample& sample);
  [[nodiscard]] std::int64_t busy_time(const CpuIdleTime& cpu, Microseconds now);
  void read_vm(const VmDescription& vm, Extent extent, bool last_cpus, Sample& sample);
  [[nodiscard]] std::set<VmId> whose_turn(const std::map<VmId, const VmDescription*>& running);

  files::Directory root_;
  Topology topology_;
  SamplerOptions options_;
  std::string scratch_;
  std::optional<files::KeptFile> proc_stat_;
  std::map<CpuId, std::int64_t> busy_us_;  ///< as last reported
  std::map<NodeId, files::KeptFile> meminfo_;
  std::map<NodeId, std::vector<PoolFile>> pools_;
  std::optional<bool> has_cache_scheduling_;  ///< absent: not checked yet
  std::map<VmId, VmReader> vms_;
  VmId last_turn_;  ///< the last VM that had its turn
  WakeupTotals wakeups_;
};

}  // namespace vmnuma::stats
