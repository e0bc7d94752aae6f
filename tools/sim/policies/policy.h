// SPDX-License-Identifier: Apache-2.0
/// Other ways to decide where VMs run, for comparison.
///
/// Problem: a figure says little without another to compare it with. Approach: a small policy for
/// each way in which VMs are placed today, written from its documentation, which runs on the same
/// simulated host in place of the balancer. What the original knows or costs that the simulator
/// does not have is left out, and its header says so. All policies know only what can be read on a
/// host.
///
/// Terms: *unplaced* - VMs that are found pinned float freely from their start on; a policy that
/// does not begin so says so.
///
/// Properties:
///  - the same scenario gives the same decisions;
///  - a policy sees and changes the host only through PolicyHost.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "tools/sim/policies/policy_host.h"

namespace vmnuma::tools {

class Policy {
 public:
  virtual ~Policy() = default;
  /// Called at the beginning of every epoch, after its readings were taken.
  virtual void epoch(PolicyHost& host) = 0;
};

/// All except the balancer itself.
inline constexpr std::array<std::string_view, 5> kPeers{"none", "kernel", "numad", "kubelet",
                                                        "esxi-defaults"};

/// Null for any other name.
[[nodiscard]] std::unique_ptr<Policy> make_policy(std::string_view name);

}  // namespace vmnuma::tools
