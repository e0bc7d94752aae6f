// SPDX-License-Identifier: Apache-2.0
/// Other methods to decide where VMs run, for comparison.
///
/// Problem: a figure says little without another to compare it with. Approach: for each method by
/// which VMs are placed today, a small policy, written from the method's documentation, runs on the
/// same simulated host in place of the balancer. Information and costs of the original that the
/// simulator does not have are left out; the policy's comment lists them. All policies know only
/// what can be read on a host.
///
/// Terms: *unplaced* - VMs that would be found pinned float from their start on. A policy that does
/// not begin like this states so.
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

/// Makes the policy of that name; null for any other name, such as the balancer's.
[[nodiscard]] std::unique_ptr<Policy> make_policy(std::string_view name);

// Each is described in the file that implements it.
[[nodiscard]] std::unique_ptr<Policy> make_numad_policy();
[[nodiscard]] std::unique_ptr<Policy> make_kubelet_policy();
[[nodiscard]] std::unique_ptr<Policy> make_esxi_policy();

}  // namespace vmnuma::tools
