// SPDX-License-Identifier: Apache-2.0
/// The admission state (balancer/controller/admission_state.h) as a file in the state directory.
///
/// Properties: after a crash there is either the old file or the new one; an unreadable file counts
/// as empty, and one that is not understood is set aside, which is logged; VMs in an old file, or
/// in one from an earlier boot of the host, are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/controller/admission_state.h"
#include "balancer/service/event_log.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// The current time in seconds and the host's boot id, from its files below `root`; if the boot id
/// cannot be read it is empty, which is never fresh.
[[nodiscard]] AdmissionStamp admission_stamp(const std::string& root, std::int64_t now_unix_s);

/// Reads the VMs that were told where to start before the daemon started, if still valid. Disk I/O.
[[nodiscard]] std::vector<StartingVm> read_expected_vms(const std::string& state_dir,
                                                        const AdmissionStamp& now, EventLog& log);

/// Writes the file. Disk I/O: syncs the file. Errors: permission-denied, no-space, io.
[[nodiscard]] Result<void> write_admission(const std::string& state_dir,
                                           const AdmissionState& state,
                                           const AdmissionStamp& stamp);

}  // namespace vmnuma::balancer
