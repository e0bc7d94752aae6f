// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/kernel.h"

namespace vmnuma::tools {

void KernelPolicy::epoch(PolicyHost& host) {
  for (PolicyVm& vm : host.vms()) {
    if (vm.age > 0) {
      continue;
    }
    if (!vm.found_on.empty()) {
      host.start_pinned(vm, {});
    }
    host.balance_by_kernel(vm);
  }
}

}  // namespace vmnuma::tools
