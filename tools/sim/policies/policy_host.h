// SPDX-License-Identifier: Apache-2.0
/// A simulated host as a policy sees and changes it.
///
/// Readings are those of the last epoch, out of the same samples that the balancer gets. Changes
/// are made through the ports that the executor uses, at once. Properties: nothing is known that
/// could not be read on a host; pages move as the kernel moves them, and what cannot move stays.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {

/// A VM in the last epoch.
struct PolicyVm {
  placement::VmId id;
  std::int32_t vcpus = 0;
  std::int64_t weight = 100;
  placement::CpuTime used;   ///< ran; nothing in its first epoch
  placement::CpuTime ready;  ///< waited
  placement::Bytes size;
  std::vector<placement::Bytes> memory;        ///< per node
  std::vector<placement::NodeIndex> on;        ///< nodes it is pinned to; empty: anywhere
  std::vector<placement::NodeIndex> found_on;  ///< nodes it was pinned to when it started
  std::vector<std::int32_t> vcpus_on;          ///< per node, where they ran last
  bool memory_moves = true;                    ///< not bound by its definition
  std::int64_t age = 0;                        ///< epochs since it was first seen

  [[nodiscard]] placement::CpuTime demand() const { return used + ready; }
  [[nodiscard]] placement::Bytes resident() const;
};

class PolicyHost {
 public:
  explicit PolicyHost(SimHost& host) : host_(host) {}

  /// Takes the epoch's readings.
  void read(placement::Sample sample);

  [[nodiscard]] const placement::Topology& topology() const { return host_.topology(); }
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  [[nodiscard]] placement::CpuTime epoch_length() const { return length_; }
  [[nodiscard]] std::vector<PolicyVm>& vms() { return vms_; }  ///< ascending id
  [[nodiscard]] placement::Bytes free(placement::NodeIndex node) const { return free_[node]; }
  /// Time that the node's CPUs were busy, with whatever.
  [[nodiscard]] placement::CpuTime busy(placement::NodeIndex node) const { return busy_[node]; }
  /// Nodes with CPUs and memory.
  [[nodiscard]] std::vector<placement::NodeIndex> homes() const;

  /// Pins all threads of the VM to these nodes; to all CPUs if there are none.
  void pin(PolicyVm& vm, const std::vector<placement::NodeIndex>& nodes);
  /// Pins the vCPUs first .. first + count - 1 to one node, and the rest of QEMU to all CPUs.
  void pin_vcpus(PolicyVm& vm, std::int32_t first, std::int32_t count, placement::NodeIndex node);
  /// Moves pages that lie on none of the nodes there, at most so many bytes; what was moved.
  placement::Bytes move_memory(PolicyVm& vm, const std::vector<placement::NodeIndex>& nodes,
                               placement::Bytes most);

 private:
  [[nodiscard]] std::vector<placement::CpuId> cpus_of(
      const std::vector<placement::NodeIndex>& nodes) const;

  SimHost& host_;
  std::int64_t epoch_ = 0;
  placement::CpuTime length_;
  std::optional<placement::Sample> last_;
  std::vector<PolicyVm> vms_;
  std::map<placement::VmId, placement::VmProcess> processes_;
  std::vector<placement::Bytes> free_;
  std::vector<placement::CpuTime> busy_;
};

}  // namespace vmnuma::tools
