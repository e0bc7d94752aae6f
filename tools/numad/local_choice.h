// SPDX-License-Identifier: Apache-2.0
/// Where a VM should start, decided without the daemon.
///
/// Problem: libvirt does not start a VM without an answer, and the daemon may be away. Approach:
/// the host is read once, its VMs stay unknown, and the VM is placed by the rules of
/// placement/initial.h: nodes differ only in room for the memory and in size.
///
/// Properties:
///  - nodes without CPUs or memory are not homes;
///  - while a node has room, none without room is chosen;
///  - between equal nodes the caller's `turn` decides, so that VMs that start one after the other
///    do not all start on the first.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

/// `root` is the host's root directory. `turn` is any number that differs from call to call.
/// Ascending, never empty. Errors: those of read_topology(), and unsupported (no node can be a
/// home).
[[nodiscard]] Result<std::vector<NodeId>> choose_locally(const files::Directory& root,
                                                         std::int32_t vcpus,
                                                         std::int64_t memory_mib,
                                                         std::uint64_t turn);

/// All online nodes: the answer of last resort, which does not restrict the VM.
[[nodiscard]] Result<std::vector<NodeId>> all_nodes(const files::Directory& root);

}  // namespace vmnuma::tools
