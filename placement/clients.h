// SPDX-License-Identifier: Apache-2.0
/// Splits a VM into clients, the groups of vCPUs that each live on one node.
///
/// Problem: a VM wider than a node must live on several; what the guest believes to be close
/// together (a NUMA cell, a socket) should really be, and no node should carry much more of it than
/// another. Approach: as few clients as the size of a node allows; vCPUs in order and spread
/// evenly; whole guest cells stay together while they fit, else whole sockets, dies or cores, if
/// that needs no more clients.
/// Terms: *size* - the most vCPUs that one client may have: the cores (threads with prefer_ht) of
/// the largest allowed node if that holds the VM, else of the smallest, limited further by
/// max_per_node and max_per_client. Arrangement::forbidden_by_group makes sure, when clients get
/// their homes, that several of them together do not exceed max_per_node. *Unit* - what is kept
/// whole: a cell, a socket, a die, a core or a vCPU.
/// Properties:
///  1. Every online vCPU is in exactly one client; clients are in the order of their vCPUs.
///  2. No client is larger than `size`.
///  3. The units of two clients differ by at most one: 12 vCPUs on 10 cores make 6 + 6; 30 in
///     sockets of 2 on 20 cores 16 + 14. (Cells, which may differ in size, are as even as
///     possible.)
///  4. A guest cell that fits a node is never split.
///  5. The memory of the clients adds up to the VM's.
///  6. With topology policy single-numa-node (and scope vm) a VM is one client if any allowed node
///     has as many CPUs; with restricted and best-effort it is sized by threads, as the kubelet
///     counts CPUs.
///  7. A VM that fits a node is one client, unless `consolidate` is off and its memory does not
///     fit.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// A client to be made: its vCPUs, the guest cells it holds (empty without guest NUMA or if a cell
/// was too large for a node) and its part of the VM's memory.
struct ClientShape {
  std::vector<std::int32_t> vcpus;
  std::vector<std::int32_t> cells;
  Bytes memory;
  bool operator==(const ClientShape&) const = default;
};

/// Returns the nodes on which a client of this VM may live: those with CPUs and memory, within the
/// policy's nodes. If the policy names no such node, all nodes that can be a home are allowed.
/// Ascending.
[[nodiscard]] std::vector<NodeIndex> allowed_homes(const Topology& topology,
                                                   const VmPolicy& policy);

/// Returns the same for a VM as a whole. Each of the following narrows the nodes further, unless it
/// would leave none: device_locality strict keeps the nodes of its devices, and socket those of
/// their sockets; in memory mode soft, a numatune in mode restrictive keeps those that it names
/// (not with placement='auto', which names the nodes advised at the start); topology policy
/// single-numa-node keeps those with at least as many CPUs as it has vCPUs.
[[nodiscard]] std::vector<NodeIndex> allowed_homes(const Topology& topology,
                                                   const VmDescription& vm);

/// Returns the host nodes that the numatune allows for the memory of these guest cells (of the
/// whole VM if there are none); ascending; empty: any (bound_nodes()).
[[nodiscard]] std::vector<NodeIndex> bound_nodes(const Topology& topology, const VmDescription& vm,
                                                 const std::vector<std::int32_t>& cells);
/// Keeps only those of `homes` on which the memory of the whole VM may lie, if there is one.
void keep_where_memory_may_lie(const Topology& topology, const VmDescription& vm,
                               std::vector<NodeIndex>& homes);

/// With device_locality socket, keeps only those of `homes` that share a socket with a device of
/// the VM, if there is one.
void keep_its_sockets(const Topology& topology, const VmDescription& vm,
                      std::vector<NodeIndex>& homes);

/// Returns the nodes of its passed-through devices and, with device_locality strict or socket, also
/// those of its host interfaces and disks; empty if its policy says that they do not matter.
/// Ascending.
[[nodiscard]] std::vector<NodeIndex> device_nodes(const Topology& topology,
                                                  const VmDescription& vm);

/// Returns the nodes of its host interfaces and disks if they are only a preference: with
/// device_locality preferred. Most VMs of a host share one adapter and one disk, so anything
/// stronger would pile them up on its node. Ascending.
[[nodiscard]] std::vector<NodeIndex> wished_nodes(const Topology& topology,
                                                  const VmDescription& vm);

/// Returns true if hardware threads, not only cores, count as places for the VM's vCPUs.
/// `prefer_ht` is the host's option.
[[nodiscard]] bool counts_threads(const VmPolicy& policy, bool prefer_ht);

/// Returns the clients of `vm` on this host. `prefer_ht` counts threads (the VM's policy or the
/// host's option). Empty if the VM has no online vCPU or the host has no node to live on.
[[nodiscard]] std::vector<ClientShape> split_into_clients(const VmDescription& vm,
                                                          const Topology& topology, bool prefer_ht);

}  // namespace vmnuma
