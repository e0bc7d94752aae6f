// SPDX-License-Identifier: Apache-2.0
/// Whether a VM fits together on this host, without the daemon.
///
/// The daemon knows better: which CPUs VMs may use, and what was promised to others. This is for
/// the case that it does not answer and the VM asks for admission control all the same.
#pragma once

#include <vector>

#include "placement/admission.h"
#include "placement/model/domain.h"
#include "placement/result.h"
#include "stats/linux/directory.h"

namespace vmnuma::tools {

/// Huge pages of the size that the VM wants, on every online node; empty if it wants ordinary ones.
[[nodiscard]] std::vector<placement::FreeHugePages> read_huge_pages(
    const stats::Directory& root, const placement::VmDescription& vm);

/// Success if the VM's policy lets it start on this host as it is now. `vm` with its policy and the
/// nodes of its devices. Errors: no-space, for people; others if the host cannot be read.
[[nodiscard]] Result<void> admit_locally(const stats::Directory& root,
                                         const placement::VmDescription& vm);

}  // namespace vmnuma::tools
