// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/vcpu_watch.h"

#include <algorithm>
#include <utility>

namespace vmnuma::balancer {

std::vector<VmId> VcpuWatch::changed(const std::vector<VmDescription>& running,
                                     const Sample& sample) {
  std::map<VmId, std::vector<std::int32_t>> differing;
  std::vector<VmId> changed;
  for (const VmDescription& vm : running) {
    const auto reading =
        std::lower_bound(sample.vms.begin(), sample.vms.end(), vm.id,
                         [](const VmSample& one, const VmId& id) { return one.id < id; });
    if (reading == sample.vms.end() || reading->id != vm.id) {
      continue;
    }
    std::vector<std::int32_t> there;
    for (const VcpuSample& vcpu : reading->vcpus) {
      there.push_back(vcpu.vcpu);
    }
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
