// SPDX-License-Identifier: Apache-2.0
#include "stats/wakeup_totals.h"

namespace vmnuma::stats {

std::vector<WakeupSample> WakeupTotals::advance(const WakeupCounts& counts,
                                                const std::vector<VmSample>& vms) {
  std::map<std::int64_t, const VmSample*> by_pid;
  std::map<VmId, const VmSample*> by_id;
  for (const VmSample& vm : vms) {
    by_pid.emplace(vm.process.pid, &vm);
    by_id.emplace(vm.id, &vm);
  }
  for (const PidWakeups& counted : counts.pairs) {
    const auto one = by_pid.find(counted.a);
    const auto other = by_pid.find(counted.b);
    if (one == by_pid.end() || other == by_pid.end()) {
      continue;
    }
    const bool in_order = one->second->id < other->second->id;
    const VmSample& a = *(in_order ? one : other)->second;
    const VmSample& b = *(in_order ? other : one)->second;
    Pair& pair = pairs_[{a.id, b.id}];
    if (pair.a != a.process || pair.b != b.process) {
      pair = {a.process, b.process, 0, 0};
    }
    const bool goes_on = counted.count >= pair.last;
    pair.total += goes_on ? counted.count - pair.last : counted.count;
    pair.last = counted.count;
  }
  std::vector<WakeupSample> totals;
  for (const auto& [ids, pair] : pairs_) {
    const auto a = by_id.find(ids.first);
    const auto b = by_id.find(ids.second);
    if (a != by_id.end() && b != by_id.end() && a->second->process == pair.a &&
        b->second->process == pair.b) {
      totals.push_back({ids.first, ids.second, pair.total});
    }
  }
  return totals;
}

}  // namespace vmnuma::stats
