// SPDX-License-Identifier: Apache-2.0
/// The name of vmnuma's numad. This text in the executable distinguishes it from other programs
/// called numad.
#pragma once

namespace vmnuma::tools {

/// Print it only as a whole: of a string composed from it, a compiler may keep only fragments.
inline constexpr char kNumadName[] = "numad of vmnuma";

}  // namespace vmnuma::tools
