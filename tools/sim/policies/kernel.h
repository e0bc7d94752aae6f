// SPDX-License-Identifier: Apache-2.0
/// The kernel's automatic NUMA balancing, without pins.
///
/// Documented (Linux 6.1: Documentation/scheduler/sched-debug.rst, the comments in
/// kernel/sched/fair.c): 256 MB of a process are scanned per scan period, which adapts between 1 s
/// and 60 s to how much is gained; a page that is used from afar goes to the node that uses it; a
/// thread prefers the node where most of what it uses is, and goes there if that does not overload
/// it. VMs begin as nobody placed them. A pin stands for a thread's preference here, for one epoch
/// at a time. Left out: what scanning and hinting faults cost, MMU notifiers above all, and
/// exchanges of single threads.
#pragma once

#include <map>

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class KernelPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override;

 private:
  std::map<placement::VmId, std::int64_t> scan_period_ms_;
};

}  // namespace vmnuma::tools
