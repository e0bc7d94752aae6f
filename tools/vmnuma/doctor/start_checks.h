// SPDX-License-Identifier: Apache-2.0
/// Checks how libvirt starts VMs: which program answers its query, whether the daemon is informed,
/// and what AppArmor allows. `root` is the host's root directory. Each check yields exactly one
/// finding.
#pragma once

#include <vector>

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Checks for the service of the package numad, which pins the same VMs by its own rules.
[[nodiscard]] Finding check_numad_service(const files::Directory& root);
/// Checks the program that libvirt asks where VMs with placement='auto' should start (libvirt 9.0,
/// src/util/virnuma.c).
[[nodiscard]] Finding check_numad_program(const files::Directory& root);
/// Checks the hook that informs the daemon which VM is starting.
[[nodiscard]] Finding check_hook(const files::Directory& root);
/// Checks AppArmor. On Debian 12 (libvirt 9.0, src/security/apparmor/libvirt-qemu), QEMU may not
/// read the CPU maps of nodes, which it does for VMs with bound and preallocated memory. Such VMs
/// do not start.
[[nodiscard]] Finding check_apparmor(const files::Directory& root);

/// Runs all of these checks.
[[nodiscard]] std::vector<Finding> check_start(const files::Directory& root);

/// Returns the pid of a process with that name (proc(5): comm), or -1 if there is none.
[[nodiscard]] int process_named(const files::Directory& root, std::string_view name);

}  // namespace vmnuma::tools
