// SPDX-License-Identifier: Apache-2.0
/// Generated hosts that differ in load only: small ones, of which all arrangements can be tried,
/// and large ones.
#pragma once

#include <cstdint>

#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma::tests {

/// 2 to 4 nodes of 4 to 16 CPUs, 2 to 9 clients anywhere, which together want 50 to 130 % of the
/// host; memory is where its client is and there is room for it everywhere. Every third has SMT.
[[nodiscard]] Snapshot small_host(std::uint64_t number, const Options& options);

/// The same with 8 nodes of 12 to 40 CPUs and 60 clients.
[[nodiscard]] Snapshot large_host(std::uint64_t number, const Options& options);

/// The least that any arrangement of all clients of a small host loses.
[[nodiscard]] CpuTime least_lost(const Snapshot& snapshot, const Options& options);

}  // namespace vmnuma::tests
