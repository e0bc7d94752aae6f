// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/hypervisors.h"

#include <utility>
#include <vector>

#include "balancer/host/libvirt_hypervisor.h"
#include "balancer/inventory/hypervisors.h"
#include "balancer/qemu/qemu_hypervisor.h"

namespace vmnuma::balancer {

Result<std::unique_ptr<Hypervisor>> open_hypervisors(HypervisorKind kind, const std::string& uri,
                                                     Bytes default_huge_page_size,
                                                     const std::function<void()>& on_dirty) {
  std::vector<Hypervisors::Source> sources;
  if (kind != HypervisorKind::kQemu) {
    auto libvirt = LibvirtHypervisor::open({uri, default_huge_page_size}, on_dirty);
    if (!libvirt) {
      return libvirt;
    }
    sources.push_back({std::move(*libvirt), kind == HypervisorKind::kAuto});
  }
  if (kind != HypervisorKind::kLibvirt) {
    auto qemu = qemu::QemuHypervisor::open({}, on_dirty);
    if (!qemu) {
      return qemu;
    }
    sources.push_back({std::move(*qemu), false});
  }
  if (sources.size() == 1) {
    return std::move(sources.front().hypervisor);
  }
  return std::make_unique<Hypervisors>(std::move(sources));
}

}  // namespace vmnuma::balancer
