// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/vm_checks.h"

#include <fmt/format.h>

namespace vmnuma::tools {

std::vector<Finding> check_definitions(const Result<balancer::HostView>& host) {
  if (!host || !host->vms_known) {
    return {};
  }
  std::vector<Finding> findings;
  for (const balancer::VmView& vm : host->vms) {
    for (const balancer::AdviceView& advice : vm.advice) {
      findings.push_back(
          {"advice", advice.calls_for_change ? Severity::kWarning : Severity::kNote,
           fmt::format("VM '{}', {}: {}", vm.vm, advice.kind, advice.text),
           advice.calls_for_change ? "`vmnuma advise` says what its definition should be." : ""});
    }
  }
  if (findings.empty()) {
    findings.push_back({"advice", Severity::kOk, "the definitions of VMs have no known problems"});
  }
  return findings;
}

}  // namespace vmnuma::tools
