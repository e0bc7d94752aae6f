// SPDX-License-Identifier: Apache-2.0
/// Decides without the daemon where a VM should start.
///
/// Problem: libvirt does not start a VM without an answer, and the daemon may not be running.
/// Approach: the host is read once, its VMs are ignored, and the VM is placed by the rules of
/// placement/initial.h: nodes differ only in room for the memory and in size.
///
/// Properties:
///  - nodes without CPUs or memory are not homes;
///  - while some node has room, no node without room is chosen;
///  - between equal nodes the caller's `turn` decides, so that VMs started one after the other do
///    not all start on the first node.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

/// Returns the chosen nodes, ascending, never empty. `root` is the host's root directory. `turn` is
/// any number that differs from call to call. Errors: those of read_topology(), and unsupported (no
/// node can be a home).
[[nodiscard]] Result<std::vector<NodeId>> choose_locally(const files::Directory& root,
                                                         std::int32_t vcpus,
                                                         std::int64_t memory_mib,
                                                         std::uint64_t turn);

/// Returns all online nodes, the answer of last resort, which does not restrict the VM.
[[nodiscard]] Result<std::vector<NodeId>> all_nodes(const files::Directory& root);

}  // namespace vmnuma::tools
