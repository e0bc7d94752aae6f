// SPDX-License-Identifier: Apache-2.0
/// Properties of a VM other than its load, for predictors. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "placement/model/snapshot.h"

namespace vmnuma {

struct VmFacts {
  std::string name;
  std::int64_t vcpus = 0;
  std::int64_t memory_mib = 0;
  std::int64_t shares = 100;  ///< cpu.weight
  std::string guest_os;       ///< VmDescription::guest_os
  bool operator==(const VmFacts&) const = default;
};

/// `vm` is one of the snapshot's.
[[nodiscard]] VmFacts facts_of(const Snapshot& snapshot, const VmState& vm);

}  // namespace vmnuma
