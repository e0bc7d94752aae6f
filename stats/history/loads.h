// SPDX-License-Identifier: Apache-2.0
/// Reads the CPU demand of VMs in each minute, for forecasting.
///
/// Reads the file that History writes; never changes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/vm_facts.h"

namespace vmnuma::stats {

struct MinuteLoad {
  std::int64_t minute = 0;  ///< since 1970 (UTC)
  Permille load;            ///< share of the VM's vCPUs' full time, at most 1000
  bool operator==(const MinuteLoad&) const = default;
};

struct VmLoads {
  VmId vm;
  VmFacts facts;                    ///< as of the last row
  std::vector<MinuteLoad> minutes;  ///< all complete ones that are kept, ascending
  bool operator==(const VmLoads&) const = default;
};

/// Passes every VM with that name or UUID (all VMs if empty) that was seen for a whole minute to
/// `take`, in the order in which they were first seen, until `take` returns false. Returns the
/// first minute that is not complete. Later minutes, recorded while the clock was ahead, are left
/// out. Errors: as read_past().
[[nodiscard]] Result<std::int64_t> read_vm_loads(const std::filesystem::path& path,
                                                 std::string_view vm,
                                                 const std::function<bool(VmLoads)>& take);

}  // namespace vmnuma::stats
