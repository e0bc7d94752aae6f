// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a VM's configuration in Proxmox VE: a description that keeps its promises, never a
/// crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "balancer/qemu/pve_vm.h"
#include "placement/base/result.h"
#include "tests/fuzz/description_promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace qemu = vmnuma::balancer::qemu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto vm = describe_pve(qemu::parse_pve_config(text), 100, {vmnuma::kMiB * 2, true});
  vmnuma::fuzz::check_promises(vm);
  VMNUMA_CHECK(!vm.name.empty());
  return 0;
}
