// SPDX-License-Identifier: Apache-2.0
/// What ACPI's HMAT says of reading memory, as far as the kernel passes it on.
///
/// /sys/devices/system/node/nodeN/access0/initiators (Linux 6.1, drivers/base/node.c and
/// Documentation/admin-guide/mm/numaperf.rst): nodeN is the memory; the links "nodeM" in it are the
/// nodes from which it is reached best, and read_latency is the time that takes, in nanoseconds. Of
/// other nodes the kernel says nothing.
#pragma once

#include <vector>

#include "placement/base/result.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {

/// Empty on a host without HMAT. `root` is the host's root directory. Errors: corrupt, io,
/// permission-denied.
[[nodiscard]] Result<std::vector<FirmwareLatency>> read_hmat(const files::Directory& root,
                                                             const placement::Topology& topology);

}  // namespace vmnuma::stats
