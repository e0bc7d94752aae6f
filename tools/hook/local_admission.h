// SPDX-License-Identifier: Apache-2.0
/// Whether a VM fits onto this host as its policy demands, decided without the daemon.
///
/// The daemon knows better: which CPUs VMs may use, which cores belong to a VM, and what was
/// promised to other VMs. It writes that down (balancer/controller/admission_state.h). This is for
/// the case that it does not answer and the VM asks for admission control. What was written down
/// counts if it is fresh; what VMs started since then use shows in the host's files, but not what
/// they have yet to use.
#pragma once

#include <string>
#include <vector>

#include "balancer/controller/admission_state.h"
#include "placement/admission.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

/// Huge pages of each size that the VM wants, on every online node; empty if it wants ordinary
/// ones.
[[nodiscard]] std::vector<FreeHugePages> read_huge_pages(const files::Directory& root,
                                                         const VmDescription& vm);

/// The daemon's last record, however old. Errors: not-found, corrupt and those of reading.
[[nodiscard]] Result<balancer::StampedAdmission> read_admission(const std::string& root,
                                                                const std::string& state_dir);
/// Of the running host; empty if it cannot be read.
[[nodiscard]] std::string boot_id_of(const files::Directory& root);

/// Success if the VM's policy lets it start on this host in its present state. `vm` with its policy
/// and the nodes of its devices. `known`: what was promised to other VMs; null if unknown: then a
/// VM that asks for cores of its own is not refused for lack of these. Errors: no-space, with a
/// message for the user; others if the host cannot be read.
[[nodiscard]] Result<void> admit_locally(const files::Directory& root, const VmDescription& vm,
                                         const balancer::AdmissionState* known);

}  // namespace vmnuma::tools
