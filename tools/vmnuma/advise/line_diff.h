// SPDX-License-Identifier: Apache-2.0
/// Compares two texts as a unified diff (POSIX diff -u), for humans and for patch(1). Lines are not
/// made printable(), or patch(1) would not find them; the names of the texts are.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::tools {

/// Returns the diff; empty if the texts are equal. Three lines of context. If the texts differ over
/// more than a few thousand lines, everything between the first and the last difference is one
/// change.
[[nodiscard]] std::string line_diff(std::string_view before, std::string_view after,
                                    std::string_view before_name, std::string_view after_name);

}  // namespace vmnuma::tools
