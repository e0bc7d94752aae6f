// SPDX-License-Identifier: Apache-2.0
/// numad 20150602, according to its manual and known behaviour.
///
/// It takes readings every 15 s, or 5 s after it has moved a process, and moves at most one process
/// at a time. Candidates are processes that use more than 300 MB and half a CPU; a process needs
/// the most that it used in the last 8 readings. Processes that were never bound come first, those
/// with the largest product of CPU time and memory before others, then those that were not
/// evaluated for longest; after an evaluation a process is left alone for 300 s. A node's score is
/// (10 x needed + 4 x spare memory) x (6 x needed + spare CPU); a second thread of a core counts as
/// a fifth of a CPU, the target utilization of a node is 85 %, and what the process already uses on
/// a node is credited to it, times 17/16 if it is not bound and 5/4 if it is. Nodes are added, each
/// score divided by the square of the distance to the first, until the need is met. All threads are
/// bound to them by one write to the cpuset, bypassing libvirt, and all memory is moved there as
/// fast as the kernel can; until that is done numad does nothing else. VMs begin unplaced
/// (policy.h). Left out: its effects on khugepaged, its assumption that all nodes of a host are
/// equal, and the restriction that its CPU limit only works if QEMU is called qemu-kvm.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class NumadPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override;

 private:
  struct Process {
    std::deque<std::int64_t> cpu_pct;  ///< in the last readings
    bool bound = false;
    std::int64_t evaluated_ms = -1;  ///< -1: never
  };
  void look(PolicyHost& host);
  bool consider(PolicyHost& host, PolicyVm& vm, Process& process) const;

  std::int64_t now_ms_ = 0;
  std::int64_t next_look_ms_ = 15'000;
  std::map<VmId, Process> processes_;
};

}  // namespace vmnuma::tools
