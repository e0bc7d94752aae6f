// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/qemu_hypervisor.h"

#include <utility>

namespace vmnuma::balancer::qemu {

Result<std::unique_ptr<Hypervisor>> QemuHypervisor::open(InventoryOptions options,
                                                         std::function<void()> on_dirty) {
  VMNUMA_ASSIGN_OR_RETURN(auto root, files::Directory::open(options.root));
  return std::unique_ptr<Hypervisor>(
      new QemuHypervisor(std::move(root), std::move(options), std::move(on_dirty)));
}

QemuHypervisor::QemuHypervisor(files::Directory root, InventoryOptions options,
                               std::function<void()> on_dirty)
    : inventory_(std::move(options), std::move(on_dirty)),
      control_(std::move(root), inventory_.known(),
               {.on_change = [this](const VmId& vm) { inventory_.mark_dirty(vm); },
                .look = [this] { inventory_.look_once(); }}) {}

}  // namespace vmnuma::balancer::qemu
