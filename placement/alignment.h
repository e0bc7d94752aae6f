// SPDX-License-Identifier: Apache-2.0
/// How well a running VM conforms to what its topology_policy prefers.
///
/// Problem: where a VM starts is judged once (placement/admission.h), but what kept it from
/// starting with everything together may be gone a minute later, and balancing may separate what
/// was together. Approach: a VM with a topology_policy that does not live on its devices' nodes
/// loses time, as members of an affinity group do that live apart (Numa.AffinityWeight), so that
/// moves and first homes keep trying; memory away from home costs lost time anyway. alignment_of()
/// returns what is reported to people.
///
/// Terms: *aligned* - the VM lives on no more nodes than the host would need for it at best, with
/// its devices and its memory on them.
///
/// Properties:
///  - without a topology_policy nothing is lost and nothing is reported;
///  - the same holds on hosts with more than max_allowable_numa_nodes nodes;
///  - which client uses a device is up to the guest, so the device counts for the first client, as
///    at admission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma {

/// Returns true if the policy asks to keep anything together on such a host.
[[nodiscard]] bool should_be_aligned(const VmPolicy& policy, const Topology& topology);

/// Returns true if the client loses time when it is away from its VM's devices.
[[nodiscard]] bool wants_its_devices(const Snapshot& snapshot, const ClientState& client);

/// Returns the client's lost time per epoch because its VM's devices are on other nodes than
/// `home`. Zero if the client does not need them near, or has no home.
[[nodiscard]] CpuTime lost_to_far_devices(const Snapshot& snapshot, const ClientState& client,
                                          NodeIndex home, const Options& options);

struct Alignment {
  std::size_t fewest_nodes = 0;             ///< if nothing else ran on the host
  std::vector<NodeIndex> homes;             ///< ascending
  std::vector<NodeIndex> far_device_nodes;  ///< none of its clients lives there; ascending
  Bytes elsewhere;                          ///< memory on other nodes than its homes
  Bytes resident;

  /// Libraries and page tables take up to this percentage elsewhere.
  static constexpr std::int64_t kLittlePct = 5;
  [[nodiscard]] bool has_memory_elsewhere() const {
    return elsewhere.value * 100 > resident.value * kLittlePct;
  }
  [[nodiscard]] bool is_aligned() const {
    return homes.size() <= fewest_nodes && far_device_nodes.empty() && !has_memory_elsewhere();
  }
};

/// Returns the alignment of a VM with homes; nothing if its policy does not ask for alignment, it
/// has no home, or it needs more than the host has. `vm` is the snapshot's index of the VM that
/// `description` describes.
[[nodiscard]] std::optional<Alignment> alignment_of(const Snapshot& snapshot, std::size_t vm,
                                                    const VmDescription& description);

}  // namespace vmnuma
