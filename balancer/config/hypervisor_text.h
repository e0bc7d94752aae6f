// SPDX-License-Identifier: Apache-2.0
/// What sources of VMs are called where it is shown which ones there are.
#pragma once

#include <string_view>

namespace vmnuma::balancer {

/// VMs that no libvirt manages.
inline constexpr std::string_view kQemuProcesses = "QEMU processes";

}  // namespace vmnuma::balancer
