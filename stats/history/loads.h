// SPDX-License-Identifier: Apache-2.0
/// What VMs wanted in each minute, for forecasting.
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
  std::vector<MinuteLoad> minutes;  ///< all that are kept and over, ascending
  bool operator==(const VmLoads&) const = default;
};

/// Passes every VM of that name or UUID (all if empty) that was seen for a whole minute to `take`,
/// in the order they were first seen, until it returns false. Returns the first minute that is not
/// complete. Minutes from then on, recorded while the clock was ahead, are left out. Errors: as
/// read_past().
[[nodiscard]] Result<std::int64_t> read_vm_loads(const std::filesystem::path& path,
                                                 std::string_view vm,
                                                 const std::function<bool(VmLoads)>& take);

}  // namespace vmnuma::stats
