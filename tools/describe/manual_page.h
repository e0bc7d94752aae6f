// SPDX-License-Identifier: Apache-2.0
/// Manual pages in scdoc(5), with sections made from the tables of keys, options, metrics and
/// examples.
///
/// A page is a template in which a line such as "@options@" is replaced by a section made from a
/// table, so that the manual cannot disagree with the program.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Fills in the "@...@" lines of the template: @keys@, @history@, @options-esxi@, @options-own@,
/// @policy@, @metrics@, and @examples COMMAND...@ for the examples of these commands and of those
/// in their groups. Error: invalid-argument for any other such line, and for a command without
/// examples.
[[nodiscard]] Result<std::string> fill_page(std::string_view page);

/// Returns the text with everything escaped that scdoc would interpret as markup.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace vmnuma::tools
