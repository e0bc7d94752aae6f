// SPDX-License-Identifier: Apache-2.0
/// Which processes are VMs, by the pid files that libvirt keeps of them.
///
/// A file may be left over, and its number be another process's by now: whoever reads the counts
/// knows the VMs' processes better, and heeds no others.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// The pids in DIRECTORY/NAME.pid (libvirt 9.0, src/qemu/qemu_process.c). Without such a directory
/// there are no VMs: libvirt makes it when it starts. A file that is no pid file names none.
/// Errors: permission-denied, io.
[[nodiscard]] Result<std::set<std::uint32_t>> read_vm_pids(const std::string& directory);

}  // namespace vmnuma::tools
