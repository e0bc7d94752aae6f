// SPDX-License-Identifier: Apache-2.0
/// Which processes are VMs, from libvirt's pid files.
///
/// A file may be stale, and its pid reused by now: the reader of the counts knows the VMs'
/// processes better, and ignores others.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// The pids in DIRECTORY/NAME.pid (libvirt 9.0, src/qemu/qemu_process.c). Without such a directory
/// there are no VMs: libvirt creates it when it starts. A file that is not a pid file names none.
/// Errors: permission-denied, io.
[[nodiscard]] Result<std::set<std::uint32_t>> read_vm_pids(const std::string& directory);

}  // namespace vmnuma::tools
