// SPDX-License-Identifier: Apache-2.0
/// Names under which sources of VMs are displayed.
#pragma once

#include <string_view>

namespace vmnuma::balancer {

/// VMs that no libvirt manages.
inline constexpr std::string_view kQemuProcesses = "QEMU processes";

}  // namespace vmnuma::balancer
