// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/cpu_map.h"

namespace vmnuma::balancer {

CpuMap map_of(const std::vector<CpuId>& cpus, std::size_t count) {
  CpuMap map((count + 7) / 8);
  for (const CpuId cpu : cpus) {
    const auto number = static_cast<std::size_t>(cpu.value);
    map[number / 8] = static_cast<unsigned char>(map[number / 8] | 1U << (number % 8));
  }
  return map;
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

}  // namespace vmnuma::balancer
