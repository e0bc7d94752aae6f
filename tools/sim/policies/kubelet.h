// SPDX-License-Identifier: Apache-2.0
/// Kubernetes' kubelet with the static policies of its CPU, memory and topology managers.
///
/// Documented (Kubernetes: "Control CPU Management Policies on the Node", "Control Topology
/// Management Policies on a Node"): a pod with whole CPUs gets CPUs of its own when it is admitted;
/// the topology manager (best-effort) prefers the fewest nodes on which CPUs and memory are left,
/// and among equal sets the lowest numbers. Nothing changes while the pod runs. Pods without CPUs
/// of their own share the remaining CPUs. VMs begin unplaced (policy.h). A VM for which no CPUs are
/// left would not be admitted; here it shares the remaining CPUs, or all if none are left. Left
/// out: which CPUs of a node a pod gets.
#pragma once

#include <map>
#include <vector>

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class KubeletPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override;

 private:
  using Share = std::vector<std::int32_t>;  ///< CPUs per node
  [[nodiscard]] Share choose(const PolicyHost& host, const PolicyVm& vm, const Share& left) const;

  std::map<VmId, Share> given_;
};

}  // namespace vmnuma::tools
