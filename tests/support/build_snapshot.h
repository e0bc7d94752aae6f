// SPDX-License-Identifier: Apache-2.0
/// Builds snapshots of hosts with VMs in concise notation.
///
/// Notation: nodes are listed in order, by cores and GiB; VMs by their homes (one client each),
/// vCPUs per client and how busy each vCPU is. An epoch is 2 s, so one busy vCPU wants 2'000'000 us
/// = kCpu; tests use kCpu. Defaults are harmless: one thread per core, 1 GiB of memory at home, at
/// home for 100 epochs, epoch 30 (in which everything periodic is due), and every shortage has
/// lasted.
///
///   const Snapshot snapshot = SnapshotBuilder()
///                                 .node({.cores = 4})
///                                 .node({.cores = 4})
///                                 .vm({.name = "a", .homes = {0}, .vcpus = 4})
///                                 .build();
///
/// Clients have used what the kernel would have given them, if a node's threads share it by weight.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::tests {

inline constexpr CpuTime kCpu{2'000'000};  ///< one CPU for an epoch

struct NodeSpec {
  std::int32_t cores = 4;
  std::int32_t threads_per_core = 1;
  std::int64_t memory_gib = 64;
  std::int64_t others_pct = 0;  ///< of one CPU, used by no client
  std::int64_t huge_gib = 0;    ///< in huge pages of 2 MiB, in addition to memory_gib
  bool known = true;
  std::int32_t id = -1;  ///< the kernel's number; -1: its place in the list
};

struct VmSpec {
  std::string name;
  std::vector<NodeIndex> homes = {0};  ///< one client each; kNoNode: to be placed
  std::int32_t vcpus = 1;              ///< of each client
  std::int64_t busy_pct = 100;         ///< of each vCPU
  std::int32_t weight = 100;
  std::vector<std::int64_t> memory_gib = {};  ///< of each client per node; empty: 1 at home
  std::int64_t size_gib = 0;                  ///< of each client; 0: what is resident
  bool huge_pages = false;                    ///< its memory consists of huge pages of 2 MiB
  std::vector<NodeIndex> allowed = {};        ///< empty: all nodes that can be a home
  VmPolicy policy = {};
  std::string memory_stays_because = {};
  bool shares_memory = false;
  bool fresh = true;
  std::int64_t epochs_stale = 0;
  bool measured = true;
  bool moving = false;
  bool transferring = false;
  std::int64_t epochs_travelled = 0;
  std::int64_t epochs_rested = 1'000'000;
  std::int64_t epochs_here = 100;
  NodeIndex came_from = kNoNode;
  std::int64_t epochs_since_swap = 1'000'000;
  std::vector<std::int64_t> owed_before_pct = {};  ///< of one CPU, newest first
  std::optional<Permille> counted_stall = {};
};

class SnapshotBuilder {
 public:
  SnapshotBuilder& node(const NodeSpec& spec);
  SnapshotBuilder& nodes(int count, const NodeSpec& spec);
  SnapshotBuilder& vm(const VmSpec& spec);
  /// Makes two VMs wake each other that often.
  SnapshotBuilder& chat(const std::string& a, const std::string& b, std::int64_t per_second);
  SnapshotBuilder& epoch(std::int64_t epoch);
  /// Sets the SLIT distance of every node to every other; the default is 20.
  SnapshotBuilder& distance(std::int32_t distance);
  SnapshotBuilder& options(const Options& options);
  [[nodiscard]] Snapshot build() const;

 private:
  std::vector<NodeSpec> nodes_;
  std::vector<VmSpec> vms_;
  struct ChatSpec {
    std::string a;
    std::string b;
    std::int64_t per_second = 0;
  };
  std::vector<ChatSpec> chats_;
  std::int64_t epoch_ = 30;
  std::int32_t distance_ = 20;
  Options options_;
};

/// Returns a host of equal nodes, for tests without clients.
[[nodiscard]] Topology equal_nodes(std::int32_t nodes, std::int32_t cores,
                                   std::int32_t threads_per_core, std::int64_t gib);

/// Returns the snapshot one epoch after the plan was made and carried out, with unchanged demand.
[[nodiscard]] Snapshot next_epoch(const Snapshot& snapshot, const Plan& plan,
                                  const Options& options);

/// Returns options with which no client spills beyond its home, as on ESXi.
[[nodiscard]] Options walls();

/// Computes how long clients ran at their homes, and what follows from that.
void run_and_share_out(Snapshot& snapshot, const Options& options);

/// Returns the index of the VM's first client.
[[nodiscard]] ClientIndex client_of(const Snapshot& snapshot, std::string_view vm);

/// "load-move a:0->1", "load-swap a:0->1 b:1->0", clients beyond the first as "a/1"; pulls as
/// "memory-pull a:0"; a spill that begins as "spill a:0+1", one that ends as "spill a:0". One line
/// per action.
[[nodiscard]] std::vector<std::string> actions_of(const Snapshot& snapshot, const Plan& plan);

/// "residency a:0->1", "no-room a:0->1 b" for swaps. One line per rejection.
[[nodiscard]] std::vector<std::string> rejections_of(const Snapshot& snapshot, const Plan& plan);

}  // namespace vmnuma::tests
