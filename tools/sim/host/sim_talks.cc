// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_talks.h"

#include <algorithm>
#include <numeric>

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

std::int64_t sum_of(const std::vector<std::int32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

void SimTalks::add(const VmId& one, const VmId& other, std::int64_t per_second) {
  talks_[std::minmax(one, other)].per_second += per_second;
}

void SimTalks::remove(const VmId& vm) {
  std::erase_if(
      talks_, [&](const auto& talk) { return talk.first.first == vm || talk.first.second == vm; });
}

std::map<VmId, CpuTime> SimTalks::pass(CpuTime length, const VcpusOn& vcpus_on) {
  std::map<VmId, CpuTime> lost;
  for (auto& [vms, talk] : talks_) {
    const std::vector<std::int32_t> one = vcpus_on(vms.first);
    const std::vector<std::int32_t> other = vcpus_on(vms.second);
    const std::int64_t pairs = sum_of(one) * sum_of(other);
    if (pairs == 0) {
      continue;
    }
    const std::int64_t near =
        std::inner_product(one.begin(), one.end(), other.begin(), std::int64_t{0});
    talk.millionths += talk.per_second * length.value;
    const CpuTime crossing = scaled(length, talk.per_second * kCrossingNs, kMillion * 1000);
    const CpuTime far = scaled(crossing, pairs - near, pairs);
    lost[vms.first] += far / 2;
    lost[vms.second] += far / 2;
  }
  return lost;
}

std::vector<WakeupSample> SimTalks::counters() const {
  std::vector<WakeupSample> counters;
  for (const auto& [vms, talk] : talks_) {
    counters.push_back({vms.first, vms.second, talk.millionths / kMillion});
  }
  return counters;
}

}  // namespace vmnuma::tools
