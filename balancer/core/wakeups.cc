// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/wakeups.h"

#include <algorithm>
#include <utility>

#include "balancer/core/averages.h"
#include "placement/base/sorted.h"

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kMostEpochsHeld = 30;
/// Fewer than this cost less than a thousandth of a CPU's time, even at 10 us each.
constexpr WakeupRate kWorthMentioning{100};

std::pair<VmId, VmId> key_of(const WakeupSample& sample) {
  return {sample.a, sample.b};
}

/// Returns the VM's process, or an empty one if it was not read.
VmProcess process_of(const Sample& sample, const VmId& id) {
  const VmSample* found = find_sorted(sample.vms, id, &VmSample::id);
  return found != nullptr ? found->process : VmProcess{};
}

bool are_same_process(const VmProcess& known, const VmProcess& now) {
  return known == now || known == VmProcess{} || now == VmProcess{};
}

}  // namespace

void Wakeups::advance(const Sample* before, const Sample& now, CpuTime half_life) {
  if (before == nullptr || !before->wakeups || !now.wakeups || now.taken_at <= before->taken_at) {
    if (++epochs_held_ > kMostEpochsHeld) {
      pairs_.clear();
    }
    return;
  }
  epochs_held_ = 0;
  const CpuTime elapsed{(now.taken_at - before->taken_at).value};
  std::map<std::pair<VmId, VmId>, Pair> next;
  auto old = before->wakeups->begin();
  for (const WakeupSample& sample : *now.wakeups) {
    while (old != before->wakeups->end() && key_of(*old) < key_of(sample)) {
      ++old;
    }
    if (old == before->wakeups->end() || key_of(*old) != key_of(sample) ||
        sample.count < old->count) {
      continue;
    }
    Pair pair{process_of(now, sample.a), process_of(now, sample.b), {}};
    if (const auto known = pairs_.find(key_of(sample)); known != pairs_.end()) {
      if (!are_same_process(known->second.a, pair.a) ||
          !are_same_process(known->second.b, pair.b)) {
        continue;
      }
      pair.average = known->second.average;
    }
    const auto rate =
        scaled(WakeupRate{sample.count - old->count}, kMicrosecondsPerSecond, elapsed.value);
    pair.average = averaged(pair.average, rate, elapsed, half_life);
    if (pair.average > WakeupRate{}) {
      next.emplace(key_of(sample), pair);
    }
  }
  pairs_ = std::move(next);
}

std::vector<Chat> Wakeups::chats() const {
  std::vector<Chat> chats;
  for (const auto& [vms, pair] : pairs_) {
    if (pair.average >= kWorthMentioning) {
      chats.push_back({vms.first, vms.second, pair.average});
    }
  }
  return chats;
}

}  // namespace vmnuma::balancer
