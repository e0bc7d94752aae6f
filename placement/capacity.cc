// SPDX-License-Identifier: Apache-2.0
#include "placement/capacity.h"

#include <algorithm>

namespace vmnuma {

Supply supply_of(const NodeState& node, const Options& options) {
  return {node.physical, node.threads, node.non_vm + node.set_aside, options.smt_gain_pct};
}

CpuTime service(const Supply& supply, CpuTime demand) {
  if (demand <= supply.cores) {
    return std::max(demand, CpuTime{});
  }
  const CpuTime beyond = std::min(demand, supply.threads) - supply.cores;
  return supply.cores + std::max(beyond, CpuTime{}) * supply.smt_gain_pct / 100;
}

CpuTime threads_left(const Supply& supply) {
  return std::max(supply.threads - supply.non_vm, CpuTime{});
}

CpuTime service_beside_others(const Supply& supply, CpuTime demand) {
  const CpuTime run = std::clamp(demand, CpuTime{}, threads_left(supply));
  const CpuTime busy = run + supply.non_vm;
  return busy <= supply.cores ? run : scaled(run, service(supply, busy).value, busy.value);
}

CpuTime capacity(const Supply& supply) {
  return service_beside_others(supply, threads_left(supply));
}

}  // namespace vmnuma
