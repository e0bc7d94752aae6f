// SPDX-License-Identifier: Apache-2.0
/// What a pin means on a host whose CPUs come and go. Every implementation of DomainControl::pin()
/// follows this rule.
///
/// Properties:
///  - a CPU that the host does not have is refused, before it is silently dropped elsewhere;
///  - an offline CPU beside online ones stays in the set, so that a pin can be restored exactly;
///  - a set without any online CPU becomes all online CPUs, as in the kernel when a thread's last
///    CPU goes offline.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::migration {

struct CpusToPin {
  std::vector<CpuId> mask;       ///< for the kernel
  std::vector<CpuId> effective;  ///< those of them that are online
};

/// `cpus` and the host's `online` CPUs must be ascending; `exists` says whether the host has a CPU,
/// online or not. Errors: invalid-argument (empty set, a CPU that does not exist).
template <class Exists>
[[nodiscard]] Result<CpusToPin> cpus_to_pin(const std::vector<CpuId>& cpus, const Exists& exists,
                                            const std::vector<CpuId>& online) {
  if (cpus.empty()) {
    return failure(ErrorCode::kInvalidArgument, "the CPU set is empty");
  }
  CpusToPin pin{.mask = cpus, .effective = {}};
  for (const CpuId cpu : cpus) {
    if (!exists(cpu)) {
      return failure(ErrorCode::kInvalidArgument, fmt::format("the host has no CPU {}", cpu.value));
    }
    if (std::ranges::binary_search(online, cpu)) {
      pin.effective.push_back(cpu);
    }
  }
  return pin.effective.empty() ? CpusToPin{.mask = online, .effective = online} : std::move(pin);
}

}  // namespace vmnuma::migration
