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
    VMNUMA_ASSIGN_OR_RETURN(auto loop, EventLoop::start());
    sources.push_back({std::make_unique<LibvirtHypervisor>(
                           std::move(loop), LibvirtOptions{uri, default_huge_page_size}, on_dirty),
                       kind == HypervisorKind::kAuto});
  }
  if (kind != HypervisorKind::kLibvirt) {
    VMNUMA_ASSIGN_OR_RETURN(auto qemu, qemu::QemuHypervisor::open({}, on_dirty));
    sources.push_back({std::move(qemu), false});
  }
  if (sources.size() == 1) {
    return std::move(sources.front().hypervisor);
  }
  return std::make_unique<Hypervisors>(std::move(sources));
}

}  // namespace vmnuma::balancer
