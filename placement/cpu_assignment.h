// SPDX-License-Identifier: Apache-2.0
/// Which CPUs of its home node a client's vCPUs are pinned to.
///
/// Problem: inside a node the kernel moves vCPUs about freely: two VMs end up on the threads of one
/// core while other cores idle, and a VM that sweeps through memory evicts the cache of one that
/// must answer quickly. Approach: cores are given out in rounds. Clients that ask for cores of
/// their own get them first; then those that share, each confined to one last-level cache where it
/// fits; all others get all CPUs that do not belong to one client alone. Every round begins with
/// the clients that can keep what they have, so that an assignment changes only where it must.
/// Other nodes are not considered here: lost time alone decides which node is home.
/// Terms: *core* - a physical one with all its threads. *Picker* - a client that takes a certain
/// number of cores: with cpu_binding exclusive, or with share and a cpu_policy. *Ground* - what
/// batch clients are kept off: the cores of latency pickers and the last-level caches in which
/// latency clients with share or exclusive live.
/// Properties:
///  1. Every client gets CPUs of the node, at least one. Without any policy it gets all of them.
///  2. Cores that were given to one client alone are in no other client's CPUs, and one core is
///     left for the others.
///  3. A client that asks for cores of its own is refused only if there are too few. The refusal
///     states what was asked for and what there was, and the client gets what cpu_binding node
///     gets.
///  4. With kFullPCPUs a picker's cores are whole and as few as hold its vCPUs; with kSpreadByPCPUs
///     they are as many as its vCPUs, if the node has that many, with one thread of each.
///  5. No two pickers are on one core while there are cores for both.
///  6. A client that shares is confined to one last-level cache if one has enough CPUs, and gets
///     the one with the fewest vCPUs.
///  7. Batch clients are kept off the ground while the rest has a CPU for each of their vCPUs; else
///     only off the latency clients' cores; else they may run anywhere.
///  8. Given the former assignment, the same clients get it again. A client without a class that
///     arrives and takes no cores for itself alone changes no other client's CPUs; one that leaves
///     changes no cores of pickers that had them to themselves, unless it was a latency client.
///  9. The order of the clients does not matter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// A client whose home is the node, and what it asks for.
struct CpuRequest {
  ClientId client;
  std::int32_t vcpus = 1;
  CpuBinding binding = CpuBinding::kNode;
  CpuPolicy policy = CpuPolicy::kNone;
  CpuClass cpu_class = CpuClass::kNone;
  CpuTime load;  ///< breaks ties between caches that are otherwise equal
};

struct CpuGrant {
  ClientId client;
  std::vector<CpuId> cpus;           ///< ascending
  std::int32_t exclusive_cores = 0;  ///< how many cores of these belong to it alone
  std::string refused;               ///< why it got no cores of its own; empty if it did not ask
  bool operator==(const CpuGrant&) const = default;
};

/// What a client was pinned to before.
struct Former {
  std::vector<CpuId> cpus;  ///< ascending
  bool were_its_own = false;
};
/// A client that has just arrived is not in it.
using FormerCpus = std::map<ClientId, Former>;

/// Returns the CPUs of each client, ascending by client. The node must have CPUs.
[[nodiscard]] std::vector<CpuGrant> assign_cpus(const Node& node,
                                                const std::vector<CpuRequest>& requests,
                                                const FormerCpus& former);

}  // namespace vmnuma
