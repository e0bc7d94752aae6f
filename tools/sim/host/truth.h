// SPDX-License-Identifier: Apache-2.0
/// What really happened in an epoch, which only a simulation knows, and the figures derived from
/// it.
///
/// Problem: the balancer must not be judged by its own measurements. Approach: the simulated host
/// records for every vCPU what it wanted, got and lost. The figures follow the balancer's
/// definitions (entitlement by reservations, then by weighted max-min; owed = what a VM was
/// entitled to and did not get), but are computed from these records. They treat the host as one
/// large node, no matter to which nodes a VM is confined, because other policies do not confine
/// VMs.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/capacity.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/topology.h"

namespace vmnuma::tools {

struct VcpuTruth {
  NodeIndex node = kNoNode;  ///< where it was last
  CpuTime wanted;            ///< at most what the VM's limit allows
  CpuTime ran;               ///< thread time
  CpuTime waited;            ///< as the kernel counts it (run_delay)
  CpuTime served;            ///< what `ran` was worth in core time
  CpuTime stalled;  ///< of `served`, lost to far or busy memory, a crowded cache or far wake-ups
};

struct VmTruth {
  VmId id;
  std::int32_t shares = 0;
  CpuTime reserved;  ///< by its policy, per epoch
  std::vector<VcpuTruth> vcpus;
  std::vector<Bytes> memory;  ///< per node, at the end
};

struct EpochTruth {
  CpuTime length;
  Topology topology;            ///< at the end
  std::vector<CpuTime> others;  ///< per node, CPU time used by anything but vCPUs
  /// The part of it, at most, that could have been used on any other node.
  std::vector<CpuTime> roaming;
  std::vector<VmTruth> vms;  ///< ascending id; those that ran at the end
};

/// Returns the node's time, of which others than VMs use `others`.
[[nodiscard]] Supply supply_of(const EpochTruth& truth, NodeIndex node, CpuTime others);

struct VmEpochFigures {
  VmId id;
  CpuTime could_use;  ///< vCPUs x epoch
  CpuTime wanted;
  CpuTime served;
  CpuTime entitled;
  CpuTime owed;
  CpuTime stalled;
  Bytes local;  ///< memory on the nodes of its vCPUs, in proportion to their vCPUs
  Bytes resident;
};

struct EpochFigures {
  std::vector<VmEpochFigures> vms;  ///< as EpochTruth::vms
  Permille imbalance;  ///< largest difference of owed / capacity between two nodes, at most 1000
};

[[nodiscard]] EpochFigures figures_of(const EpochTruth& truth);

}  // namespace vmnuma::tools
