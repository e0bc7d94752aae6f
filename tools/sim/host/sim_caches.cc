// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_caches.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace vmnuma::tools {

std::vector<Permille> crowding(const std::vector<CacheUse>& threads,
                               const std::vector<CpuTime>& time) {
  const auto waits = [](const CacheUse& thread, std::size_t cache) {
    return thread.on_cache[cache] * thread.stall.value / 1000;
  };
  std::vector<CpuTime> all(time.size());
  std::map<std::size_t, std::vector<CpuTime>> own;
  for (const CacheUse& thread : threads) {
    std::vector<CpuTime>& of_vm = own.try_emplace(thread.vm, time.size()).first->second;
    for (std::size_t cache = 0; cache < time.size(); ++cache) {
      all[cache] += waits(thread, cache);
      of_vm[cache] += waits(thread, cache);
    }
  }
  std::vector<Permille> grown;
  for (const CacheUse& thread : threads) {
    const std::vector<CpuTime>& of_vm = own.at(thread.vm);
    CpuTime ran;
    std::int64_t weighted = 0;
    for (std::size_t cache = 0; cache < time.size(); ++cache) {
      const Permille others =
          permille_of((all[cache] - of_vm[cache]).value, time[cache].value, Permille{});
      ran += thread.on_cache[cache];
      weighted += thread.on_cache[cache].value * others.value;
    }
    grown.push_back(ran.value > 0 ? kMostCrowding * (weighted / ran.value) / 1000 : Permille{});
  }
  return grown;
}

}  // namespace vmnuma::tools
