// SPDX-License-Identifier: Apache-2.0
/// Amounts in sentences of advice. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma {

/// "1 cell", "2 cells".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

/// "6 GiB" where that is exact, else "6.5 GiB", "512 MiB" or "4 KiB"; rounded down to a tenth.
[[nodiscard]] std::string memory_text(Bytes bytes);

/// "6, 6 and 5"; of equal ones only the first: "6".
[[nodiscard]] std::string each_text(const std::vector<std::string>& parts);

}  // namespace vmnuma
