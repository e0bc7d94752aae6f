// SPDX-License-Identifier: Apache-2.0
/// Fills in texts with lines such as "@options@", which are replaced by the contents of a table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Returns the replacement of a line, terminated by '\n'; nothing for an unknown line.
using Section = std::function<std::optional<std::string>(std::string_view line)>;

/// Returns the text with every line that begins with '@' replaced. Error: invalid-argument for an
/// unknown line.
[[nodiscard]] Result<std::string> fill_template(std::string_view text, const Section& section);

}  // namespace vmnuma::tools
