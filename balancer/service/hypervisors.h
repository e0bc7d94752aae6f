// SPDX-License-Identifier: Apache-2.0
/// Which sources of VMs the configuration asks for. The only place that knows what there are.
#pragma once

#include <functional>
#include <memory>

#include "balancer/config/config.h"
#include "balancer/inventory/hypervisor.h"
#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::balancer {

/// `on_dirty` is run by each of them, as theirs says. With both, libvirt need not be there. Errors:
/// of libvirt's event loop, and of the root directory.
[[nodiscard]] Result<std::unique_ptr<Hypervisor>> open_hypervisors(
    HypervisorKind kind, const std::string& uri, placement::Bytes default_huge_page_size,
    const std::function<void()>& on_dirty);

}  // namespace vmnuma::balancer
