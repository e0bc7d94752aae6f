// SPDX-License-Identifier: Apache-2.0
/// The name of vmnuma's numad. This text in its file distinguishes it from another program of that
/// name.
#pragma once

namespace vmnuma::tools {

/// Only to be printed as a whole: of a string made from it a compiler may keep pieces only.
inline constexpr char kNumadName[] = "numad of vmnuma";

}  // namespace vmnuma::tools
