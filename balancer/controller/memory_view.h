// SPDX-License-Identifier: Apache-2.0
/// How memory stands on the host, VM by VM, and who would lose some first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/core/ledger.h"
#include "balancer/model/view.h"
#include "placement/model/memory_state.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// What counts for all VMs, as last read.
struct HostMemory {
  std::int64_t sequence = 0;  ///< of the sample
  placement::Bytes total;
  std::optional<placement::Bytes> swap;
  std::vector<placement::SliceMemory> slices;
  std::optional<bool> protection_inherited;
};
[[nodiscard]] HostMemory host_memory(const placement::Topology& topology,
                                     const placement::Sample& sample);

/// VMs in the order of their names. One that has not been read yet is there without figures.
[[nodiscard]] MemoryView memory_view(const Ledger& ledger, const HostMemory& host);

}  // namespace vmnuma::balancer
