// SPDX-License-Identifier: Apache-2.0
/// The sources of VMs that the configuration requests. The only place that knows all hypervisors.
#pragma once

#include <functional>
#include <memory>

#include "balancer/config/config.h"
#include "balancer/inventory/hypervisor.h"
#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::balancer {

/// Opens them. Each calls `on_dirty` as documented in its own header. If both are requested,
/// libvirt need not exist. Errors: those of libvirt's event loop, and of the root directory.
[[nodiscard]] Result<std::unique_ptr<Hypervisor>> open_hypervisors(
    HypervisorKind kind, const std::string& uri, Bytes default_huge_page_size,
    const std::function<void()>& on_dirty);

}  // namespace vmnuma::balancer
