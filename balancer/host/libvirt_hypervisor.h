// SPDX-License-Identifier: Apache-2.0
/// libvirt as a source of VMs: its event loop, inventory and control.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "balancer/host/event_loop.h"
#include "balancer/host/libvirt_control.h"
#include "balancer/host/libvirt_inventory.h"
#include "balancer/inventory/hypervisor.h"

namespace vmnuma::balancer {

class LibvirtHypervisor final : public Hypervisor {
 public:
  /// libvirtd need not be running yet. `on_dirty` as in LibvirtInventory. Errors: those of the
  /// event loop.
  [[nodiscard]] static Result<std::unique_ptr<Hypervisor>> open(InventoryOptions options,
                                                                std::function<void()> on_dirty);

  [[nodiscard]] std::string name() const override { return "libvirt at " + uri_; }
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override {
    return inventory_.refresh();
  }
  [[nodiscard]] std::vector<VmId> unreadable() const override { return inventory_.unreadable(); }
  [[nodiscard]] std::vector<std::string> take_notices() override {
    return inventory_.take_notices();
  }
  void mark_dirty(const VmId& vm) override { inventory_.mark_dirty(vm); }
  [[nodiscard]] migration::DomainControl& control() override { return control_; }

 private:
  LibvirtHypervisor(std::unique_ptr<EventLoop> loop, InventoryOptions options,
                    std::function<void()> on_dirty);

  const std::string uri_;
  std::unique_ptr<EventLoop> loop_;
  LibvirtInventory inventory_;
  LibvirtControl control_;
};

}  // namespace vmnuma::balancer
