// SPDX-License-Identifier: Apache-2.0
/// Pages and addresses of x86, as tests of the page mover use them.
#pragma once

#include <cstdint>

#include "placement/model/amounts.h"

namespace vmnuma::migration {

inline constexpr Bytes kPage = kKiB * 4;
inline constexpr Bytes kBlock = kMiB * 2;
/// What a page is of that is not of a huge page pool.
inline constexpr Bytes kOrdinary{};
/// Of a VM's memory; a multiple of 2 MiB.
inline constexpr std::uint64_t kRangeStart = 0x7f0000000000;

}  // namespace vmnuma::migration
