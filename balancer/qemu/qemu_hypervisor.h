// SPDX-License-Identifier: Apache-2.0
/// QEMU processes without libvirt as a source of VMs: their inventory and control.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "balancer/inventory/hypervisor.h"
#include "balancer/qemu/qemu_control.h"
#include "balancer/qemu/qemu_inventory.h"

namespace vmnuma::balancer::qemu {

class QemuHypervisor final : public Hypervisor {
 public:
  /// `on_dirty` as in QemuInventory. Error: the root directory cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<Hypervisor>> open(InventoryOptions options,
                                                                std::function<void()> on_dirty);

  [[nodiscard]] std::string name() const override { return "QEMU processes"; }
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override {
    return inventory_.refresh();
  }
  [[nodiscard]] std::vector<std::string> take_notices() override {
    return inventory_.take_notices();
  }
  void mark_dirty(const VmId& vm) override { inventory_.mark_dirty(vm); }
  [[nodiscard]] migration::DomainControl& control() override { return control_; }

 private:
  QemuHypervisor(files::Directory root, InventoryOptions options, std::function<void()> on_dirty);

  QemuInventory inventory_;
  QemuControl control_;
};

}  // namespace vmnuma::balancer::qemu
