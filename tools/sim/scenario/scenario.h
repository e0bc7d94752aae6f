// SPDX-License-Identifier: Apache-2.0
/// The input of a simulation: a host, the VMs that come and go on it, and what goes wrong.
///
/// A scenario is a plain value; vmnuma-scenario(5) describes its file format and the meaning of
/// every field. Times are counted in epochs from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migration/page_mover.h"
#include "placement/base/names.h"
#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/options.h"

namespace vmnuma::tools {

/// The unit in which simulated memory is placed and moved: a transparent huge page of x86.
inline constexpr Bytes kSimPage = kMiB * 2;

struct ScenarioNode {
  NodeId id;
  std::int32_t cores = 0;  ///< 0: a node without CPUs
  std::int32_t threads_per_core = 1;
  Bytes memory;             ///< 0: a node without memory
  Bytes huge_pages;         ///< part of it that is reserved for huge pages of 2 MiB
  std::int32_t caches = 1;  ///< last-level caches, each shared by equally many cores
  bool operator==(const ScenarioNode&) const = default;
};

/// Returns whether a VM can have its home there: the node has CPUs and memory.
[[nodiscard]] bool can_be_home(const ScenarioNode& node);

/// CPU time that no VM uses: polling threads, backups, the host itself.
struct OtherLoad {
  std::optional<NodeId> node;  ///< none: runs in each while where most CPU time is idle
  std::int64_t from = 0;
  std::optional<std::int64_t> until;  ///< first epoch without it
  std::int64_t pct = 0;               ///< of one CPU: 250 keeps two and a half CPUs busy
  bool operator==(const OtherLoad&) const = default;
};

struct ScenarioHost {
  std::vector<ScenarioNode> nodes;      ///< ascending id
  std::vector<std::int32_t> distances;  ///< as in SLIT, row by row, in the order of `nodes`
  /// What the firmware reports; empty: the true distances.
  std::vector<std::int32_t> firmware_distances;
  /// Whether the daemon measures distances, as the service does.
  bool distances_are_measured = true;
  bool counts_reads = false;  ///< its CPUs can count VMs' reads from memory, for ReadTurns
  std::vector<OtherLoad> others;
  bool operator==(const ScenarioHost&) const = default;
};

/// Between nodes, if a scenario says nothing else.
inline constexpr std::int32_t kRemoteDistance = 21;
/// Returns the distances of a host whose nodes are all equally far from each other.
[[nodiscard]] std::vector<std::int32_t> even_distances(std::size_t nodes, std::int32_t remote);

/// Returns the node, or null if the host has none of that number.
[[nodiscard]] const ScenarioNode* find_node(const ScenarioHost& host, NodeId id);

/// Returns whether memory is reserved for huge pages on any node.
[[nodiscard]] bool has_huge_pages(const ScenarioHost& host);

/// The load from this epoch on: how much of a CPU every vCPU wants.
struct LoadStep {
  std::int64_t from = 0;
  std::int64_t pct = 0;
  bool operator==(const LoadStep&) const = default;
};

struct ScenarioVm {
  std::string name;
  std::int32_t vcpus = 0;
  Bytes memory;
  std::int64_t start = 0;
  std::optional<std::int64_t> stop;  ///< first epoch without it
  std::int32_t shares = 1024;
  std::optional<std::int64_t> limit_pct;  ///< CPU quota of all vCPUs together, of one CPU
  std::vector<LoadStep> load;             ///< ascending `from`
  std::int64_t load_repeats = 0;          ///< epochs after which it repeats; 0: never
  std::int64_t noise_pct = 0;             ///< by how much the load varies from epoch to epoch
  Permille stall{300};
  Permille qemu{15};                 ///< what QEMU's own threads use besides its vCPUs
  std::int32_t cells = 0;            ///< guest NUMA cells of equal size; 0 = none
  bool huge_pages = false;           ///< all its memory is in huge pages
  std::vector<NodeId> pinned_on;     ///< nodes on which it is found pinned, client by client
  std::vector<NodeId> placed_on;     ///< nodes that have all its memory at its start
  std::vector<NodeBytes> memory_on;  ///< or nodes that have that much of it
  NumatuneMode numatune = NumatuneMode::kNone;
  VmPolicy policy;
  bool operator==(const ScenarioVm&) const = default;
};

enum class FaultKind {
  kVmVanishes,   ///< the VM's process dies in the middle of the epoch
  kPinRefused,   ///< the VM's last vCPU cannot be pinned elsewhere
  kPagesBusy,    ///< some of the VM's pages cannot be moved
  kNoMemory,     ///< something else takes all free memory of the node, or the VM finds none on any
                 ///< node
  kSlowLibvirt,  ///< each change of a pin takes seconds, for all VMs or for one
  kStaleSample,  ///< readings of the VM, of the node's memory, or those of all CPUs, are missing
  kDaemonRestart,  ///< the balancer dies in the middle of the epoch and comes back later
  kNodeOffline,    ///< the node's CPUs are taken away, or some of its cores
  kLibvirtGone,    ///< libvirt does not answer: pins can be neither changed nor read
};
[[nodiscard]] constexpr auto names(FaultKind) {
  return names_in_order<FaultKind>("vm-vanishes", "pin-refused", "pages-busy", "no-memory",
                                   "slow-libvirt", "stale-sample", "daemon-restart", "node-offline",
                                   "libvirt-gone");
}

struct Fault {
  std::int64_t epoch = 0;
  FaultKind kind{};
  std::optional<std::size_t> vm;  ///< index in Scenario::vms
  std::optional<NodeId> node;
  std::int64_t epochs = 0;  ///< how long it lasts
  std::int32_t cores = 0;   ///< for kNodeOffline: that many of the node's cores; 0: all
  bool operator==(const Fault&) const = default;
};

/// Returns whether the fault has begun in that epoch and not ended yet.
[[nodiscard]] bool lasts(const Fault& fault, std::int64_t epoch);

/// VMs of which each pair wake each other that often.
struct ScenarioTalk {
  std::vector<std::size_t> vms;  ///< indices in Scenario::vms
  std::int64_t wakeups_per_second = 0;
  bool operator==(const ScenarioTalk&) const = default;
};

struct Scenario {
  std::string name;
  std::string description;        ///< one line
  std::string not_first_because;  ///< why another policy does better here; empty if none does
  std::uint64_t seed = 1;
  std::int64_t epochs = 0;
  ScenarioHost host;
  Options options;
  /// For VMs without a strategy in their policy.
  PlacementStrategy strategy = PlacementStrategy::kLeastLostTime;
  std::int64_t known_minutes =
      0;  ///< minutes of the VMs' loads before the start that are known, as from a history
  std::vector<ScenarioVm> vms;
  std::vector<ScenarioTalk> talks;
  std::vector<Fault> faults;
  bool operator==(const Scenario&) const = default;
};

/// Returns the number of epochs in `known_minutes`.
[[nodiscard]] std::int64_t known_epochs(const Scenario& scenario);

/// Returns what every vCPU of the VM wants in that epoch, without noise, in per cent of a CPU.
/// Epochs before the start are negative.
[[nodiscard]] std::int64_t load_at(const ScenarioVm& vm, std::int64_t epoch);

}  // namespace vmnuma::tools
