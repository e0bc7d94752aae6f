// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/vcpu_watch.h"

#include <utility>

#include "placement/base/mapped.h"
#include "placement/base/sorted.h"

namespace vmnuma::balancer {

std::vector<VmId> VcpuWatch::changed(const std::vector<VmDescription>& running,
                                     const Sample& sample) {
  std::map<VmId, std::vector<std::int32_t>> differing;
  std::vector<VmId> changed;
  for (const VmDescription& vm : running) {
    const VmSample* reading = find_sorted(sample.vms, vm.id, &VmSample::id);
    if (reading == nullptr) {
      continue;
    }
    std::vector<std::int32_t> there = mapped(reading->vcpus, &VcpuSample::vcpu);
    if (there == vm.vcpus) {
      continue;
    }
    const auto told = reported_.find(vm.id);
    if (told == reported_.end() || told->second != there) {
      changed.push_back(vm.id);
    }
    differing.emplace(vm.id, std::move(there));
  }
  reported_ = std::move(differing);
  return changed;
}

}  // namespace vmnuma::balancer
