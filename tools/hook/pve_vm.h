// SPDX-License-Identifier: Apache-2.0
/// Reads the VM that Proxmox VE is about to start, or has stopped.
#pragma once

#include <string_view>

#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

/// `root` is the host's root directory. Errors: invalid-argument (not a VMID), not-found (there is
/// no configuration), io.
[[nodiscard]] Result<VmDescription> read_pve_vm(const files::Directory& root,
                                                std::string_view vmid);

}  // namespace vmnuma::tools
