// SPDX-License-Identifier: Apache-2.0
/// The admission state (balancer/controller/admission_state.h) as a file in the state directory.
///
/// Properties: a crash leaves the old file or the new one; what cannot be read counts as nothing;
/// a file of an earlier boot of the host, or an old one, brings nobody back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/controller/admission_state.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// The present second and boot of the host whose files are below `root`; no boot id if that cannot
/// be read, which is never fresh.
[[nodiscard]] AdmissionStamp admission_stamp(const std::string& root, std::int64_t now_unix_s);

/// The VMs that were told where to start before the daemon's start, if that still counts. Disk I/O.
[[nodiscard]] std::vector<StartingVm> read_expected_vms(const std::string& state_dir,
                                                        const AdmissionStamp& now);

/// Disk I/O: syncs the file. Errors: permission-denied, no-space, io.
[[nodiscard]] Result<void> write_admission(const std::string& state_dir,
                                           const AdmissionState& state,
                                           const AdmissionStamp& stamp);

}  // namespace vmnuma::balancer
