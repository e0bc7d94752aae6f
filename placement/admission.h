// SPDX-License-Identifier: Apache-2.0
/// Finds the nodes on which a VM fits together, and decides whether it may start at all.
///
/// Problem: CPUs, memory, huge pages and devices are each on some nodes, and a VM that asks for it
/// must only start where all of them are together. The kubelet's topology manager does this for
/// containers: every provider of a resource names sets of nodes (*hints*), and one hint from each
/// provider is merged by intersection. It tries all combinations, so its cost is exponential in
/// nodes and providers, and among equal results the lowest node always wins. Approach: we list no
/// hints. A resource is the amount asked for and the amount that each node has, so a set of nodes
/// is a hint for it exactly if the nodes' sum is enough, and a set that is enough for every
/// resource is a hint for all of them. Merging therefore means finding the narrowest such set. The
/// search is depth-first, smallest size first; it cuts off a branch if even the best remaining
/// nodes could not supply what is missing, or could not beat the best set so far.
/// Terms: *enough* - as above; *preferred* - no wider than the single resource with the widest need
/// would require on this host if nothing ran on it (as in the kubelet, except for VMs with
/// resources that need different numbers of nodes: here the largest number counts).
/// Properties:
///  1. If any set of allowed nodes is enough, the answer is enough for every resource.
///  2. No narrower set would be (up to kMostAdmissionSteps of searching, which 16 nodes never
///     need).
///  3. Of equally narrow sets the closest wins if the policy prefers that, then the least loaded,
///     then the next in turn.
///  4. Renumbering the nodes renumbers the answer, except for the turn.
///  5. Memory counts by page size: each size must have as much free as is asked of it.
///  6. With topology_scope client, each client is admitted by itself, and what it is admitted with
///     is not available to the others.
///  7. `none` and `best-effort` always admit, `best-effort` on the narrowest set that is enough;
///     `restricted` admits what is preferred; `single-numa-node` admits what fits one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/node_bytes.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// One resource that is asked for. Each resource has its own unit.
struct NodeResource {
  std::string name;                     ///< after a number: "CPUs", "MiB of memory"
  std::int64_t asked = 0;               ///< zero: ignored
  std::vector<std::int64_t> available;  ///< by node
  std::vector<std::int64_t> capacity;   ///< by node, if nothing used it
};

struct AdmissionRequest {
  TopologyPolicy policy = TopologyPolicy::kNone;
  bool prefer_closest = false;
  std::int32_t max_allowable_nodes = 0;  ///< 0: the host may have any number of nodes
  std::vector<NodeIndex> allowed;        ///< ascending
  std::vector<NodeResource> resources;
  std::vector<NodeIndex> devices;  ///< nodes of its devices, all must be included; ascending
  std::vector<std::int64_t> load;  ///< by node, less is better; empty: all equal
  NodeIndex last = kNoNode;        ///< the node chosen last, for taking turns
};

struct Admission {
  bool admitted = true;
  bool enough = false;           ///< some set of allowed nodes has all that is asked for
  bool preferred = false;        ///< and no wider than this host could ever make it
  std::vector<NodeIndex> nodes;  ///< ascending; all allowed ones if none are enough
};

/// Huge pages of one size on one node.
struct FreeHugePages {
  NodeId node;
  std::int64_t free = 0;
  std::int64_t total = 0;
  Bytes page_size;
  bool operator==(const FreeHugePages&) const = default;
};

/// What is free for a VM that is about to start.
struct FreeForVm {
  std::vector<Bytes> room;                ///< of ordinary memory, by node; empty: none anywhere
  std::vector<FreeHugePages> huge_pages;  ///< of each page size that it asks for
  /// Ordinary memory that VMs could have if no other VM ran, by node; empty: all that is in no
  /// pool.
  std::vector<Bytes> capacity = {};
};

/// Returns what a VM asks for by its description and policy: CPUs, memory of each page size, and
/// the nodes of its devices, on the nodes that its memory may lie on. CPUs are shared, so a VM
/// needs only as many CPUs as it has vCPUs.
[[nodiscard]] AdmissionRequest request_of(const Topology& topology, const VmDescription& vm,
                                          const FreeForVm& free);

/// The most sets that are tried: more than 16 nodes have.
inline constexpr std::int64_t kMostAdmissionSteps = 70'000;
/// CPUs, cores, ordinary memory, and more sizes of huge pages than any architecture has. A request
/// with more is never met.
inline constexpr std::size_t kMostResources = 12;

[[nodiscard]] Admission admit(const Topology& topology, const AdmissionRequest& request);

/// Returns the fewest allowed nodes on which the request would fit if nothing else ran; nothing if
/// all of them together are not enough.
[[nodiscard]] std::optional<std::size_t> fewest_nodes(const AdmissionRequest& request);

/// Explains to people why a VM was not admitted: the policy, what was asked for, and what each node
/// had.
[[nodiscard]] std::string refusal_text(const Topology& topology, const AdmissionRequest& request);

/// The part of refusal_text() that lists what was asked for and what each node had.
[[nodiscard]] std::string shortage_text(const Topology& topology, const AdmissionRequest& request);

struct VmAdmission {
  std::vector<NodeIndex> nodes;        ///< where it fits together, as Admission::nodes; ascending
  std::optional<std::string> refused;  ///< why it may not start
  std::optional<std::string> unmet;    ///< why best-effort found no such set; the VM starts anyway
  std::vector<MemoryOnNode> memory;    ///< what it was admitted with, if there was enough
};

/// Adds to the request for the VM, or for a part of it, what only the caller knows.
using CompleteRequest = std::function<void(AdmissionRequest&, const VmDescription& part)>;

/// Admits the VM by its topology_scope: as a whole, or one client after the other, each from what
/// the earlier ones leave. With scope client, devices count for the first client, since the guest
/// decides which of its vCPUs use a device.
[[nodiscard]] VmAdmission admit_vm(const Topology& topology, const VmDescription& vm,
                                   bool prefer_ht, FreeForVm free, const CompleteRequest& complete);

}  // namespace vmnuma
