// SPDX-License-Identifier: Apache-2.0
/// Reads the read latencies of ACPI's HMAT, to the extent that the kernel exposes them.
///
/// /sys/devices/system/node/nodeN/access0/initiators (Linux 6.1, drivers/base/node.c and
/// Documentation/admin-guide/mm/numaperf.rst): nodeN is the memory; the links "nodeM" in it are its
/// best initiator nodes, and read_latency is the time a read from there takes, in nanoseconds. For
/// other nodes the kernel exposes nothing.
#pragma once

#include <vector>

#include "placement/base/result.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {

/// Returns the latencies; none on a host without HMAT. `root` is the host's root directory. Errors:
/// corrupt, io, permission-denied.
[[nodiscard]] Result<std::vector<FirmwareLatency>> read_hmat(const files::Directory& root,
                                                             const Topology& topology);

}  // namespace vmnuma::stats
