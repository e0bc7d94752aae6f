// SPDX-License-Identifier: Apache-2.0
/// Finds the processes that are VMs from libvirt's pid files.
///
/// A file may be stale and its pid reused: the reader of the counts knows the VMs' processes
/// better, and ignores other processes.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Returns the pids in DIRECTORY/NAME.pid (libvirt 9.0, src/qemu/qemu_process.c). If the directory
/// does not exist, there are no VMs, because libvirt creates it when it starts. Files that are not
/// pid files are ignored. Errors: permission-denied, io.
[[nodiscard]] Result<std::set<std::uint32_t>> read_vm_pids(const std::string& directory);

}  // namespace vmnuma::tools
