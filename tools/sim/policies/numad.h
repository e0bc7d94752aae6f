// SPDX-License-Identifier: Apache-2.0
/// numad, 20150602, by its manual and known behaviour.
///
/// It looks every 15 s, or 5 s after it has moved a process, and moves at most one process at a
/// time. Candidates use more than 300 MB and half a CPU; a process needs the most that it used in
/// its last 8 looks. Never bound ones come first, largest CPU time times memory first, then those
/// not evaluated for longest; an evaluated one rests for 300 s. A node's score is (10 x needed + 4
/// x spare memory) x (6 x needed + spare CPU); a second thread of a core is a fifth of a CPU, a
/// node is to be used to 85 %, and what the process already uses there is credited, by 17/16 if it
/// is not bound and 5/4 if it is. Nodes are added, each divided by the square of its distance to
/// the first, until the need is met. All threads are bound to them by one write to the cpuset,
/// bypassing libvirt, and all memory is moved there as fast as the kernel can; until that is done
/// numad does nothing else. VMs begin unplaced (policy.h). Left out: its effects on khugepaged, its
/// assumption that all nodes of a host are equal, and that its CPU limit only works if QEMU is
/// called qemu-kvm.
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
    std::deque<std::int64_t> cpu_pct;  ///< of the last looks
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
