// SPDX-License-Identifier: Apache-2.0
/// Memory protection and limits by class: what should be set in the memory controllers each epoch,
/// for memory_steering.h to carry out.
///
/// Properties:
///  1. A VM that cannot be guaranteed its memory on its homes is protected like a burstable one,
///     which is logged once.
///  2. A VM that has its reservation keeps it; VMs that were told where to start take precedence
///     over those that have none yet.
///  3. Without Numa.MemQosEnable there are no wishes, so changed limits are restored.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/controller/guarantees.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/controller/memory_steering.h"
#include "balancer/core/ledger.h"

namespace vmnuma::balancer {

/// Readings common to all VMs, as last read.
struct HostMemory {
  std::int64_t sequence = 0;  ///< of the sample
  Bytes total;
  std::optional<Bytes> swap;
  std::vector<SliceMemory> slices;
  std::optional<bool> protection_inherited;
};

class MemoryControl {
 public:
  explicit MemoryControl(MemoryOriginals originals) : steering_(std::move(originals)) {}

  void sampled(const Topology& topology, const Sample& sample);
  /// Steers limits by the newest readings, including those of VMs that could not be read in this
  /// epoch.
  void steer(const Settings& settings, const Ledger& ledger, const ManagedVms& vms,
             const Guarantees& guarantees, Effects& effects);
  void answered(const MemoryLimitsSet& answer, Effects& effects);
  /// `running`: also those that could not be described yet.
  void forget_ended(const std::set<VmId>& running, Effects& effects);
  void restore_all_limits(Effects& effects);

  [[nodiscard]] const HostMemory& host() const { return host_; }
  [[nodiscard]] bool has_changed(const VmId& vm) const;
  /// What is stored so that limits can be restored.
  [[nodiscard]] const MemoryOriginals& originals() const { return steering_.originals(); }
  /// The number of changes that have not been answered yet.
  [[nodiscard]] std::int64_t under_way() const { return steering_.under_way(); }

 private:
  void take(MemorySteering::Steps steps, Effects& effects);
  [[nodiscard]] std::vector<MemoryWish> wishes(const Settings& settings, const Ledger& ledger,
                                               const ManagedVms& vms, const Guarantees& guarantees,
                                               Effects& effects);
  void reserve(const Settings& settings, const Ledger& ledger, const Guarantees& guarantees,
               MemoryWish& wish, KeptMemory& kept, Effects& effects);

  MemorySteering steering_;
  HostMemory host_;
  std::set<VmId> not_reserved_;  ///< guaranteed by policy, but there is no room
};

}  // namespace vmnuma::balancer
