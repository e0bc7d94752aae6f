// SPDX-License-Identifier: Apache-2.0
/// What vmnuma's numad calls itself. It is told from another program of that name by this text in
/// its file.
#pragma once

namespace vmnuma::tools {

/// Only to be printed as it is: of a string that is made from it a compiler may keep pieces only.
inline constexpr char kNumadName[] = "numad of vmnuma";

}  // namespace vmnuma::tools
