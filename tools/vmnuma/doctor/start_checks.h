// SPDX-License-Identifier: Apache-2.0
/// How libvirt starts VMs: which program answers it, whether the daemon is told, and what AppArmor
/// allows. `root` is the host's root directory. Each check yields exactly one finding.
#pragma once

#include <vector>

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// The service of the package numad, which pins the same VMs by rules of its own.
[[nodiscard]] Finding check_numad_service(const files::Directory& root);
/// The program that libvirt asks where VMs with placement='auto' should start (libvirt 9.0,
/// src/util/virnuma.c).
[[nodiscard]] Finding check_numad_program(const files::Directory& root);
/// The hook that tells the daemon which VM that is.
[[nodiscard]] Finding check_hook(const files::Directory& root);
/// Debian 12 (libvirt 9.0, src/security/apparmor/libvirt-qemu): QEMU may not read the CPU maps of
/// nodes, as it does for VMs with bound and preallocated memory. They do not start.
[[nodiscard]] Finding check_apparmor(const files::Directory& root);

/// All of them.
[[nodiscard]] std::vector<Finding> check_start(const files::Directory& root);

/// The pid of a process of that name (proc(5): comm), or -1 if there is none.
[[nodiscard]] int process_named(const files::Directory& root, std::string_view name);

}  // namespace vmnuma::tools
