// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/vm_usage.h"

#include <algorithm>
#include <optional>

#include "placement/base/sorted.h"

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kNsPerUs = 1000;

}  // namespace

std::optional<CpuUse> use_of(std::int32_t vcpu, const VmSample& before, const VmSample& now) {
  const VcpuSample* first = find_sorted(before.vcpus, vcpu, &VcpuSample::vcpu);
  const VcpuSample* second = find_sorted(now.vcpus, vcpu, &VcpuSample::vcpu);
  if (first == nullptr || second == nullptr || first->tid != second->tid ||
      second->run_ns < first->run_ns || second->wait_ns < first->wait_ns) {
    return std::nullopt;
  }
  return CpuUse{CpuTime{(second->run_ns - first->run_ns) / kNsPerUs},
                CpuTime{(second->wait_ns - first->wait_ns) / kNsPerUs}};
}

VmUsage usage_between(const VmSample& before, const VmSample& now,
                      const std::vector<std::vector<std::int32_t>>& groups) {
  VmUsage usage;
  for (const std::vector<std::int32_t>& vcpus : groups) {
    CpuUse& sum = usage.groups.emplace_back();
    for (const std::int32_t vcpu : vcpus) {
      const std::optional<CpuUse> use = use_of(vcpu, before, now);
      if (!use) {
        usage.unusable_because =
            "vCPU " + std::to_string(vcpu) + " has no two readings of one thread";
        return usage;
      }
      sum.run += use->run;
      sum.wait += use->wait;
    }
  }
  usage.throttled = CpuTime{std::max<std::int64_t>(now.throttled_us - before.throttled_us, 0)};
  return usage;
}

}  // namespace vmnuma::balancer
