// SPDX-License-Identifier: Apache-2.0
/// The memory of the host, VM by VM, and which VMs would lose memory first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/core/ledger.h"
#include "balancer/model/view.h"
#include "placement/model/memory_state.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// Readings common to all VMs, as last read.
struct HostMemory {
  std::int64_t sequence = 0;  ///< of the sample
  Bytes total;
  std::optional<Bytes> swap;
  std::vector<SliceMemory> slices;
  std::optional<bool> protection_inherited;
};
[[nodiscard]] HostMemory host_memory(const Topology& topology, const Sample& sample);

/// VMs are ordered by name. One that has not been read yet is listed without figures.
[[nodiscard]] MemoryView memory_view(const Ledger& ledger, const HostMemory& host);

}  // namespace vmnuma::balancer
