// SPDX-License-Identifier: Apache-2.0
/// Others who decide where VMs run, to compare with.
///
/// Problem: a figure says little without the one next to it. Approach: for each way in which VMs
/// are placed today a small policy, written from what is documented about it, on the same simulated
/// host in the place of the balancer. What a policy's original knows or pays for and the simulator
/// does not have is left out, and its header says so. All policies know only what can be read on a
/// host.
///
/// Terms: *as nobody placed it* - VMs that are found pinned float freely from their start on; a
/// policy that does not begin so says it.
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
  /// At the beginning of every epoch, after its readings were taken.
  virtual void epoch(PolicyHost& host) = 0;
};

/// All but the balancer itself.
inline constexpr std::array<std::string_view, 5> kPeers{"none", "kernel", "numad", "kubelet",
                                                        "esxi-defaults"};

/// Null for a name that is none of these.
[[nodiscard]] std::unique_ptr<Policy> make_policy(std::string_view name);

}  // namespace vmnuma::tools
