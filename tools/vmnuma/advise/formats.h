// SPDX-License-Identifier: Apache-2.0
/// Writes advice in the formats of tools that generate definitions.
///
/// Each function is pure, and returns one document that ends with a line end. Advice that a format
/// cannot express becomes a comment in it. Each format has a switch over AdviceAbout that decides
/// which advice this is, so that new kinds of advice cannot be forgotten.
#pragma once

#include <string>

#include "placement/advice/advice.h"

namespace vmnuma::tools {

/// Returns arguments of virt-install(1) 4.1, one per line with a backslash at its end; comments
/// come last.
[[nodiscard]] std::string virt_install_arguments(const Advice& advice);

/// Returns extra specs of a flavor of OpenStack Nova, "hw:numa_nodes=2" (nova documentation, "Extra
/// Specs"), one per line. CPUs are dedicated if the guest sees threads, because threads are
/// accurate only then.
[[nodiscard]] std::string nova_extra_specs(const Advice& advice);

/// Returns lines of a VM's configuration in Proxmox VE (qm.conf(5), 8.x), which does not support
/// threads or distances.
[[nodiscard]] std::string pve_lines(const Advice& advice);

/// Returns the domain of a KubeVirt VirtualMachine as YAML (kubevirt.io/v1). KubeVirt creates cells
/// itself, from the nodes of the pod's CPUs, for VMs with dedicated CPUs and huge pages; a guest
/// that sees threads gets dedicated CPUs, too.
[[nodiscard]] std::string kubevirt_spec(const Advice& advice);

}  // namespace vmnuma::tools
