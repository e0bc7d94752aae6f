// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/scheduling_text.h"

#include <fmt/format.h>

namespace vmnuma::tools {

/// Linux 6.12: kernel/sched/ext.c refuses to run a thread where its affinity forbids it, leaves
/// weights and quotas of cgroups to the BPF scheduler (ops.cgroup_set_weight), and NUMA balancing
/// scans start only in kernel/sched/fair.c (task_tick_fair).
std::string sched_ext_text(const SchedExt& scheduler) {
  if (!scheduler.takes_all) {
    return fmt::format(
        "the sched_ext scheduler '{}' runs only threads that ask for it, which those of VMs do not",
        scheduler.name);
  }
  return fmt::format(
      "the sched_ext scheduler '{}' runs all threads: it respects pins, but weights and quotas of "
      "VMs only if it implements them; the kernel's NUMA balancing and cache-aware scheduling are "
      "inactive meanwhile, so switching them off changes nothing",
      scheduler.name);
}

/// Linux 7.2: kernel/sched/fair.c, exceed_llc_capacity() derives how much memory a process touches
/// from its NUMA faults (task_numa_fault), and without these lets every process pass.
std::string cache_scheduling_text(CacheScheduling state, bool is_numa_balancing) {
  if (state == CacheScheduling::kNone) {
    return "";
  }
  if (state == CacheScheduling::kOff) {
    return "its cache-aware scheduling is off";
  }
  return fmt::format(
      "its cache-aware scheduling {}: within its pins, a VM with few busy threads is drawn to one "
      "last-level cache, {}",
      state == CacheScheduling::kOn ? "is on" : "is built in, and on unless root switched it off",
      is_numa_balancing ? "if its memory fits there"
                        : "even if its memory is far larger, which the kernel does not see while "
                          "NUMA balancing is off");
}

}  // namespace vmnuma::tools
