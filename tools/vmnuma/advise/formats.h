// SPDX-License-Identifier: Apache-2.0
/// Advice in the formats of tools that generate definitions.
///
/// Each function is pure, and prints one document that ends with a line end. What a format cannot
/// express becomes a comment in it. A switch over AdviceAbout per format decides which pieces of
/// advice those are, so that a new one cannot be forgotten.
#pragma once

#include <string>

#include "placement/advice/advice.h"

namespace vmnuma::tools {

/// Arguments of virt-install(1) 4.1, one per line with a backslash at its end; comments come last.
[[nodiscard]] std::string virt_install_arguments(const Advice& advice);

/// Extra specs of a flavor of OpenStack Nova, "hw:numa_nodes=2" (nova documentation, "Extra
/// Specs"), one per line. CPUs are dedicated if the guest is shown threads, which are only accurate
/// then.
[[nodiscard]] std::string nova_extra_specs(const Advice& advice);

/// Lines of a VM's configuration in Proxmox VE (qm.conf(5), 8.x). It has no threads and takes no
/// distances.
[[nodiscard]] std::string pve_lines(const Advice& advice);

/// The domain of a KubeVirt VirtualMachine as YAML (kubevirt.io/v1). KubeVirt creates cells itself,
/// from the nodes of the pod's CPUs, for VMs with CPUs of their own and huge pages; a guest that is
/// shown threads is given such CPUs, too.
[[nodiscard]] std::string kubevirt_spec(const Advice& advice);

}  // namespace vmnuma::tools
