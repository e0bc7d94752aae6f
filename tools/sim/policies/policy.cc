// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/policy.h"

#include "tools/sim/policies/esxi_defaults.h"
#include "tools/sim/policies/kernel.h"
#include "tools/sim/policies/kubelet.h"
#include "tools/sim/policies/none.h"
#include "tools/sim/policies/numad.h"

namespace vmnuma::tools {

std::unique_ptr<Policy> make_policy(std::string_view name) {
  if (name == "none") {
    return std::make_unique<NonePolicy>();
  }
  if (name == "kernel") {
    return std::make_unique<KernelPolicy>();
  }
  if (name == "numad") {
    return std::make_unique<NumadPolicy>();
  }
  if (name == "kubelet") {
    return std::make_unique<KubeletPolicy>();
  }
  if (name == "esxi-defaults") {
    return std::make_unique<EsxiPolicy>();
  }
  return nullptr;
}

}  // namespace vmnuma::tools
