// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/libvirt_hypervisor.h"

#include <utility>

namespace vmnuma::balancer {

Result<std::unique_ptr<Hypervisor>> LibvirtHypervisor::open(InventoryOptions options,
                                                            std::function<void()> on_dirty) {
  VMNUMA_ASSIGN_OR_RETURN(auto loop, EventLoop::start());
  return std::unique_ptr<Hypervisor>(
      new LibvirtHypervisor(std::move(loop), std::move(options), std::move(on_dirty)));
}

LibvirtHypervisor::LibvirtHypervisor(std::unique_ptr<EventLoop> loop, InventoryOptions options,
                                     std::function<void()> on_dirty)
    : uri_(options.uri),
      loop_(std::move(loop)),
      inventory_(*loop_, std::move(options), std::move(on_dirty)),
      control_(*loop_, uri_) {}

}  // namespace vmnuma::balancer
