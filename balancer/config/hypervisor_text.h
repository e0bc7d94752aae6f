// SPDX-License-Identifier: Apache-2.0
/// Names under which sources of VMs are displayed.
#pragma once

#include <string_view>

namespace vmnuma::balancer {

/// The name of VMs that are not managed by libvirt.
inline constexpr std::string_view kQemuProcesses = "QEMU processes";

}  // namespace vmnuma::balancer
