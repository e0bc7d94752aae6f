// SPDX-License-Identifier: Apache-2.0
/// Simulates VMs that talk to each other, and what that costs them.
///
/// Problem: whether it was worth bringing two VMs together can only be judged if wake-ups across
/// nodes cost something. Approach: two talking VMs wake each other at the given rate as long as
/// both want to run; all of their vCPUs are equally likely to be involved, and waking a vCPU on
/// another node costs kCrossingNs of run time without work, half of it from each VM. This amount is
/// assumed, not measured on any machine: an interrupt to another socket, and a few cache lines that
/// have to be fetched from there.
///
/// Properties:
///  - counters never decrease;
///  - VMs on the same node lose nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"

namespace vmnuma::tools {

/// Cost of a wake-up across nodes, in nanoseconds.
inline constexpr std::int64_t kCrossingNs = 1300;

class SimTalks {
 public:
  void add(const VmId& one, const VmId& other, std::int64_t per_second);
  /// Ends all talks of the VM.
  void remove(const VmId& vm);

  /// Returns how many vCPUs of a VM are on each node; all 0 if it does not want to run.
  using VcpusOn = std::function<std::vector<std::int32_t>(const VmId&)>;
  /// Lets time pass; returns what each VM loses in it.
  [[nodiscard]] std::map<VmId, CpuTime> pass(CpuTime length, const VcpusOn& vcpus_on);

  [[nodiscard]] bool empty() const { return talks_.empty(); }
  /// Returns the counters by a, b.
  [[nodiscard]] std::vector<WakeupSample> counters() const;

 private:
  struct Talk {
    std::int64_t per_second = 0;
    std::int64_t millionths = 0;  ///< of wake-ups so far
  };
  std::map<std::pair<VmId, VmId>, Talk> talks_;
};

}  // namespace vmnuma::tools
