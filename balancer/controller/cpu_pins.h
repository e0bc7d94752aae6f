// SPDX-License-Identifier: Apache-2.0
/// Which CPUs the threads of every VM are pinned to.
///
/// Problem: VMs with cores of their own reduce what all others on their nodes may use, while most
/// hosts have no such VM and their VMs simply have whole nodes. Approach:
/// placement/cpu_assignment.h is called node by node for the clients at home there; the result
/// contains only VMs that do not have the whole of their homes. Terms: *reach* - the CPUs of all
/// homes of a VM that do not belong to a single other VM; the emulator, vhost and the I/O threads
/// serve all of its clients, so they may run on all of them. *Left alone* - released, or pinned
/// externally: such a VM is ignored here. Properties:
///  1. On a host where no VM has cpu_binding, cpu_policy or class and none spills, the result is
///     empty.
///  2. A VM that is not in the result is pinned to its whole homes.
///  3. No thread of a VM may run on a core that belongs to a single other VM.
///  4. A VM gets the same CPUs as before where possible.
///  5. A client that spills (core/spill.h) has its home and what its VM may use of its second node.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "balancer/core/ledger.h"
#include "placement/model/ids.h"
#include "placement/model/plan.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// The CPUs that one VM's threads are pinned to, ascending.
struct VmCpus {
  std::vector<std::vector<CpuId>> clients;  ///< by client; empty: it has no home
  std::vector<CpuId> reach;
  bool operator==(const VmCpus&) const = default;
};

struct CpuPins {
  std::map<VmId, VmCpus> subsets;  ///< VMs that do not have the whole of their homes
  std::map<ClientId, std::int32_t> exclusive_cores;
  std::map<ClientId, std::string> refused;  ///< why the client has no cores of its own
};

/// The usable CPUs of a node.
[[nodiscard]] std::vector<CpuId> cpus_of(const Node& node);

/// The pins of a VM's threads to the whole of these homes, one for each client.
[[nodiscard]] VmCpus whole_nodes(const std::vector<NodeIndex>& homes, const Topology& topology);
/// The same for a VM's current homes.
[[nodiscard]] VmCpus whole_homes(const VmRecord& vm, const Topology& topology);

/// Computes the pins of the host after these relocations. `former`: current pins of VMs that do not
/// have the whole of their homes.
[[nodiscard]] CpuPins find_cpu_pins(const Ledger& ledger,
                                    const std::vector<Relocation>& relocations,
                                    const std::map<VmId, VmCpus>& former,
                                    const std::set<VmId>& left_alone);

}  // namespace vmnuma::balancer
