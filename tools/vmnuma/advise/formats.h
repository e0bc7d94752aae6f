// SPDX-License-Identifier: Apache-2.0
/// Advice in the words of those who make definitions for others.
///
/// Each function is pure, and what it prints is one document that ends with a line end. What a
/// format has no words for is a comment of it. Which pieces of advice that are is decided by a
/// switch over AdviceAbout for each format, so that a new one cannot be forgotten.
#pragma once

#include <string>

#include "placement/advice/advice.h"

namespace vmnuma::tools {

/// Arguments of virt-install(1) 4.1, one a line with a backslash at its end; comments come last.
[[nodiscard]] std::string virt_install_arguments(const placement::Advice& advice);

/// Extra specs of a flavor of OpenStack Nova, "hw:numa_nodes=2" (nova documentation, "Extra
/// Specs"), one a line. CPUs are dedicated where the guest is shown threads, which are true only
/// then.
[[nodiscard]] std::string nova_extra_specs(const placement::Advice& advice);

/// Lines of a VM's configuration in Proxmox VE (qm.conf(5), 8.x). It has no threads and takes no
/// distances.
[[nodiscard]] std::string pve_lines(const placement::Advice& advice);

/// The domain of a KubeVirt VirtualMachine as YAML (kubevirt.io/v1). KubeVirt makes cells itself,
/// from the nodes of the CPUs that the pod is given, for VMs with CPUs of their own and huge pages;
/// a guest that is shown threads is given such CPUs, too.
[[nodiscard]] std::string kubevirt_spec(const placement::Advice& advice);

}  // namespace vmnuma::tools
