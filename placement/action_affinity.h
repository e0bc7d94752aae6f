// SPDX-License-Identifier: Apache-2.0
/// What it costs VMs that talk to each other to live on different nodes.
///
/// Problem: a thread that wakes one on another node sends an interrupt there, and the data it
/// passes on travels from cache to cache; two VMs that do this all the time are better off
/// together. But without a limit, talk outweighs CPU time: VMs that all talk to each other pile up
/// on one node, the known flaw of ESXi's action affinity. Approach: every wake-up between clients
/// on different nodes loses Numa.LocalityWeightActionAffinity x 10 ns, which is our reading of
/// ESXi's unit: a microsecond at 100. A client can lose no more than Numa.ActionAffinityMax of its
/// vCPUs' time, shared out among the clients it talks to: a client that talks to many has little to
/// gain from any one of them. The wake-ups of a wide VM are divided evenly over its clients.
/// Terms: *talk* - one client's part of a chat (placement/model/snapshot.h) with one client of
/// another VM.
/// Properties:
///  1. Both clients of a pair lose the same by living apart.
///  2. What a client can lose is at most Numa.ActionAffinityMax of its vCPUs, wherever all others
///     live.
///  3. With a weight or a limit of 0 no client talks.
#pragma once

#include <vector>

#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma {

/// The client talked to, and the time lost per epoch while the two live on different nodes.
struct Talk {
  ClientIndex with = kNoClient;
  CpuTime lost_apart;
  bool operator==(const Talk&) const = default;
};

/// Returns each client's talks, ascending; empty if no client talks. Chats with VMs that are not in
/// the snapshot do not count.
[[nodiscard]] std::vector<std::vector<Talk>> talks_of(const Snapshot& snapshot,
                                                      const Options& options);

}  // namespace vmnuma
