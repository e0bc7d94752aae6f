// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/cpu_map.h"

#include <cstddef>

#include <fmt/format.h>

namespace vmnuma::balancer {

Result<CpuMap> make_cpu_map(const std::vector<placement::CpuId>& cpus, const CpuMap& online) {
  if (cpus.empty()) {
    return failure(ErrorCode::kInvalidArgument, "the CPU set is empty");
  }
  CpuMap map(online.size(), 0);
  for (const placement::CpuId cpu : cpus) {
    const auto number = static_cast<std::size_t>(cpu.value);
    const auto bit = static_cast<unsigned char>(1U << (number % 8));
    if (cpu.value < 0 || number / 8 >= online.size() || (online[number / 8] & bit) == 0) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("the host has no CPU {} online", cpu.value));
    }
    map[number / 8] = static_cast<unsigned char>(map[number / 8] | bit);
  }
  return map;
}

}  // namespace vmnuma::balancer
