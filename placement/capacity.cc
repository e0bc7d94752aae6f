// SPDX-License-Identifier: Apache-2.0
#include "placement/capacity.h"

#include <algorithm>

namespace vmnuma::placement {

CpuTime service(const Supply& supply, CpuTime demand) {
  if (demand <= supply.cores) {
    return std::max(demand, CpuTime{});
  }
  const CpuTime beyond = std::min(demand, supply.threads) - supply.cores;
  return supply.cores + std::max(beyond, CpuTime{}) * supply.smt_gain_pct / 100;
}

CpuTime service_beside_others(const Supply& supply, CpuTime demand) {
  const CpuTime left = service(supply, demand + supply.non_vm) - supply.non_vm;
  return std::clamp(left, CpuTime{}, demand);
}

CpuTime capacity(const Supply& supply) {
  return std::max(service(supply, supply.threads) - supply.non_vm, CpuTime{});
}

}  // namespace vmnuma::placement
