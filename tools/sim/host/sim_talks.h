// SPDX-License-Identifier: Apache-2.0
/// How VMs on a simulated host talk to each other, and what that costs them.
///
/// Problem: whether it was worth bringing two VMs together can only be judged where wake-ups from
/// node to node cost something. Approach: two VMs that are told to talk wake each other so often as
/// long as both want to run; vCPUs of both are as likely to be met on any of their nodes, and a
/// wake-up of a vCPU on another node takes kCrossing of run time that does no work, half of it from
/// each VM. That is assumed, not measured on any machine: an interrupt to another socket, and a few
/// cache lines that have to come from there.
///
/// Properties:
///  - counters never go back;
///  - on one node nobody loses anything.
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

/// What a wake-up from node to node takes, in nanoseconds.
inline constexpr std::int64_t kCrossingNs = 1300;

class SimTalks {
 public:
  void add(const placement::VmId& one, const placement::VmId& other, std::int64_t per_second);
  /// With everybody.
  void remove(const placement::VmId& vm);

  /// How many vCPUs of a VM are on each node; all 0 if it does not want to run.
  using VcpusOn = std::function<std::vector<std::int32_t>(const placement::VmId&)>;
  /// Time passes; what each VM loses in it.
  [[nodiscard]] std::map<placement::VmId, placement::CpuTime> pass(placement::CpuTime length,
                                                                   const VcpusOn& vcpus_on);

  [[nodiscard]] bool empty() const { return talks_.empty(); }
  /// By a, b.
  [[nodiscard]] std::vector<placement::WakeupSample> counters() const;

 private:
  struct Talk {
    std::int64_t per_second = 0;
    std::int64_t millionths = 0;  ///< of wake-ups, so far
  };
  std::map<std::pair<placement::VmId, placement::VmId>, Talk> talks_;
};

}  // namespace vmnuma::tools
