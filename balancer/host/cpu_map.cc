// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/cpu_map.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace vmnuma::balancer {

Result<CpuMap> make_cpu_map(const std::vector<CpuId>& cpus, const HostCpus& host) {
  if (cpus.empty()) {
    return failure(ErrorCode::kInvalidArgument, "the CPU set is empty");
  }
  const CpuMap none(host.online.size(), 0);
  CpuMap map = none;
  for (const CpuId cpu : cpus) {
    const auto number = static_cast<std::size_t>(cpu.value);
    if (cpu.value < 0 || number >= std::min(host.count, map.size() * 8)) {
      return failure(ErrorCode::kInvalidArgument, fmt::format("the host has no CPU {}", cpu.value));
    }
    const auto bit = static_cast<unsigned char>(1U << (number % 8));
    map[number / 8] = static_cast<unsigned char>(map[number / 8] | bit);
  }
  return online_part(map, host.online) == none ? host.online : map;
}

std::vector<CpuId> cpus_in(const CpuMap& map) {
  std::vector<CpuId> cpus;
  for (std::size_t number = 0; number < map.size() * 8; ++number) {
    if ((map[number / 8] >> (number % 8) & 1U) != 0) {
      cpus.push_back({static_cast<std::int32_t>(number)});
    }
  }
  return cpus;
}

CpuMap online_part(CpuMap map, const CpuMap& online) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    map[i] = static_cast<unsigned char>(map[i] & online[i]);
  }
  return map;
}

}  // namespace vmnuma::balancer
