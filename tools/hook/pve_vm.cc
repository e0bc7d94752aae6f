// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/pve_vm.h"

#include <cstdint>

#include <fmt/format.h>

#include "balancer/qemu/pve_vm.h"
#include "placement/base/number.h"

namespace vmnuma::tools {

Result<VmDescription> read_pve_vm(const files::Directory& root, std::string_view vmid) {
  const auto number = whole_number<std::int32_t>(vmid);
  if (!number || *number <= 0) {
    return failure(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a VMID", vmid));
  }
  return balancer::qemu::read_pve_vm(root, *number);
}

}  // namespace vmnuma::tools
