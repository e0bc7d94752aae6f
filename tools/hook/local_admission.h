// SPDX-License-Identifier: Apache-2.0
/// Decides without the daemon whether a VM fits onto this host as its policy demands.
///
/// The daemon knows more: which CPUs VMs may use, which cores belong to a VM, and what was promised
/// to other VMs. It records this (balancer/controller/admission_state.h). This file is for the case
/// that the daemon does not answer and the VM asks for admission control. The record is used if it
/// is recent. The host's files show what VMs that started since then use, but not what they have
/// yet to use.
#pragma once

#include <string>
#include <vector>

#include "balancer/controller/admission_state.h"
#include "placement/admission.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

/// Returns the huge pages of each size that the VM uses, on every online node; empty if it uses
/// ordinary pages.
[[nodiscard]] std::vector<FreeHugePages> read_huge_pages(const files::Directory& root,
                                                         const VmDescription& vm);

/// Returns the daemon's last record, however old it is. Errors: not-found, corrupt and those of
/// reading.
[[nodiscard]] Result<balancer::StampedAdmission> read_admission(const std::string& root,
                                                                const std::string& state_dir);

/// Returns success if the VM's policy lets it start on this host in its present state. `vm` has its
/// policy and the nodes of its devices. `known` is what was promised to other VMs; null if that is
/// unknown, in which case a VM that asks for cores of its own is not refused for lack of cores.
/// Errors: no-space, with a message for the user; others if the host cannot be read.
[[nodiscard]] Result<void> admit_locally(const files::Directory& root, const VmDescription& vm,
                                         const balancer::AdmissionState* known);

}  // namespace vmnuma::tools
