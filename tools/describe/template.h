// SPDX-License-Identifier: Apache-2.0
/// Texts with lines such as "@options@" that stand for what a table says.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// What a line stands for, ended by '\n'; nothing if it is not known.
using Section = std::function<std::optional<std::string>(std::string_view line)>;

/// The text with every line that begins with '@' replaced. Error: invalid-argument for a line that
/// is not known.
[[nodiscard]] Result<std::string> fill_template(std::string_view text, const Section& section);

}  // namespace vmnuma::tools
