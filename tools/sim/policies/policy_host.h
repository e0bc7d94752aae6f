// SPDX-License-Identifier: Apache-2.0
/// A simulated host as a policy sees and changes it.
///
/// Readings are those of the last epoch, from the same samples that the balancer gets. Changes are
/// made through the executor's ports, one after the other by one worker. They take as long, and
/// cost the VMs as much, as those of the executor; only what is configured before a VM starts takes
/// effect immediately.
///
/// Properties:
///  - a policy sees nothing that could not be read on a host;
///  - changes are made in the order of the requests, and none begins before the previous one has
///    ended; a newer pin of a thread replaces an older one that has not begun;
///  - pages move as the kernel moves them; those that cannot be moved stay.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "placement/base/sorted.h"
#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {

/// A VM in the last epoch.
struct PolicyVm {
  VmId id;
  VmProcess process;
  std::int32_t vcpus = 0;
  CpuTime used;   ///< time its vCPUs ran; zero in its first epoch
  CpuTime ready;  ///< waited
  Bytes size;
  std::vector<Bytes> memory;           ///< per node
  std::vector<NodeIndex> on;           ///< nodes it is pinned to; empty: anywhere
  std::vector<NodeIndex> found_on;     ///< nodes it was pinned to when it started
  std::vector<std::int32_t> vcpus_on;  ///< per node: how many vCPUs last ran there
  bool memory_moves = true;            ///< not bound by its definition
  std::int64_t age = 0;                ///< epochs since it was first seen

  [[nodiscard]] CpuTime demand() const { return used + ready; }
  [[nodiscard]] Bytes resident() const { return sum_of(memory); }
};

class PolicyHost {
 public:
  PolicyHost(SimHost& host, Microseconds& clock) : host_(host), clock_(clock) {}

  /// Takes the epoch's readings.
  void read(Sample sample);

  [[nodiscard]] const Topology& topology() const { return host_.topology(); }
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  [[nodiscard]] CpuTime epoch_length() const { return length_; }
  [[nodiscard]] std::vector<PolicyVm>& vms() { return vms_; }  ///< ascending id
  /// Returns the VM, or null if it does not run.
  [[nodiscard]] PolicyVm* vm(const VmId& id) { return find_sorted(vms_, id, &PolicyVm::id); }
  [[nodiscard]] Bytes free(NodeIndex node) const { return free_[node]; }
  /// Returns the time for which the node's CPUs were busy with anything.
  [[nodiscard]] CpuTime busy(NodeIndex node) const { return busy_[node]; }

  // These take effect immediately and cost nothing; only for a VM of age 0.
  /// Lets a VM that would be found pinned float.
  void start_unplaced(PolicyVm& vm);
  /// Starts the VM with its threads pinned to these nodes, or unpinned if there are none.
  void start_pinned(PolicyVm& vm, const std::vector<NodeIndex>& nodes);
  /// Likewise for the vCPUs first .. first + count - 1.
  void start_pinned(PolicyVm& vm, std::int32_t first, std::int32_t count, NodeIndex node);
  /// Pins the vCPUs first .. first + count - 1 to one node, one after the other through libvirt.
  void pin_vcpus(PolicyVm& vm, std::int32_t first, std::int32_t count, NodeIndex node);
  /// Writes these nodes' CPUs into the cpuset of the VM, bypassing libvirt: one write for all
  /// threads.
  void bind(PolicyVm& vm, const std::vector<NodeIndex>& nodes);
  /// Moves pages that are on none of the nodes, when the change begins, to these nodes; at most
  /// `most` bytes.
  void move_memory(const PolicyVm& vm, const std::vector<NodeIndex>& nodes, Bytes most);
  /// Enables the kernel's automatic NUMA balancing for the VM.
  void balance_by_kernel(const PolicyVm& vm) { host_.balance_numa(vm.id); }
  /// Returns whether some requested changes have not been made yet.
  [[nodiscard]] bool has_work() const { return !changes_.empty(); }

  /// Makes all changes that begin before `until`.
  void work(Microseconds until);

 private:
  [[nodiscard]] std::vector<CpuId> cpus_of(const std::vector<NodeIndex>& nodes) const;

  struct Pin {
    VmId vm;
    std::int32_t vcpu = 0;
    std::vector<CpuId> cpus;
  };
  struct Bind {
    VmId vm;
    std::vector<CpuId> cpus;
  };
  struct Move {
    VmId vm;
    std::vector<NodeIndex> nodes;
    Bytes most;
    std::optional<std::vector<std::uint64_t>> addresses;  ///< of far pages, once the move has begun
    std::size_t next = 0;
    std::size_t turn = 0;
  };
  using Change = std::variant<Pin, Bind, Move>;
  /// Each makes part of a change. Returns false if more of it is left.
  [[nodiscard]] bool step(const Pin& pin);
  [[nodiscard]] bool step(const Bind& bind);
  [[nodiscard]] bool step(Move& move);
  [[nodiscard]] std::vector<std::uint64_t> far_pages(const Move& move);

  SimHost& host_;
  Microseconds& clock_;
  std::deque<Change> changes_;
  Microseconds asked_at_;  ///< beginning of the last epoch
  Microseconds free_at_;   ///< when the last change ended
  std::int64_t epoch_ = 0;
  CpuTime length_;
  std::optional<Sample> last_;
  std::vector<PolicyVm> vms_;
  std::vector<Bytes> free_;
  std::vector<CpuTime> busy_;
};

}  // namespace vmnuma::tools
