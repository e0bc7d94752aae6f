// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/sim_cpus.h"

#include <algorithm>

#include "placement/capacity.h"
#include "placement/fair_share.h"

namespace vmnuma::tools {

using placement::CpuTime;

NodeShares share_node(std::int32_t cores, std::int32_t cpus, CpuTime length, CpuTime others,
                      const std::vector<ThreadDemand>& threads) {
  const placement::Supply supply{length * cores, length * cpus, CpuTime{}, kSimSmtGainPct};
  NodeShares shares;
  shares.others = std::min(others, supply.threads);
  std::vector<placement::Claim> claims;
  claims.reserve(threads.size());
  for (const ThreadDemand& thread : threads) {
    claims.push_back({thread.weight, CpuTime{}, std::min(thread.wants, length)});
  }
  shares.ran = placement::fair_shares(supply.threads - shares.others, claims);
  shares.ran.resize(threads.size());
  shares.busy = shares.others;
  for (const CpuTime ran : shares.ran) {
    shares.busy += ran;
  }
  shares.served = placement::service(supply, shares.busy);
  return shares;
}

}  // namespace vmnuma::tools
