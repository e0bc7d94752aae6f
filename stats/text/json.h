// SPDX-License-Identifier: Apache-2.0
/// The one way in which JSON is read and written.
///
/// Problem: most of the JSON that our programs read was written by somebody else, by another
/// version, or by us before a disk damaged it. A parser that takes whatever comes needs many times
/// the text's size in memory, so that a line of a few megabytes can exhaust a host; and JSON that
/// is perfectly valid may still contain characters that a terminal obeys. Approach: a text is
/// measured before it is parsed, and refused if it is too long, nested too deeply or has too many
/// values; what is written escapes every character that print() would not show as it is. Terms:
/// *value* - an object, list, string, number or literal. Properties:
///  - no text makes read_json() throw, or allocate for a parse tree beyond its limits;
///  - read_json(json_text(x)) is x, where the strings of x are UTF-8;
///  - json_text() is printable() but for the layout's own line ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "placement/base/result.h"

namespace vmnuma::text {

struct JsonLimits {
  std::size_t bytes = 0;
  std::size_t depth = 32;          ///< brackets open at once; our deepest formats have about 12
  std::size_t values = 4'000'000;  ///< some 250 MB if all of them are objects
  std::size_t members = 512;       ///< of one object: an ordered one searches them one by one
};

/// Parses a whole text, which must be an object, as all our formats are. `what` begins the
/// messages: "the request", "line 7". For nlohmann::json and nlohmann::ordered_json. Errors:
/// corrupt (beyond a limit, or no JSON object).
template <class Json>
[[nodiscard]] Result<Json> read_json(std::string_view text, const JsonLimits& limits,
                                     std::string_view what);

/// The number if the value is an integer that fits, nothing otherwise.
template <class Json>
[[nodiscard]] std::optional<std::int64_t> integer_of(const Json& value);

/// The value as text on one line, or indented by so many columns. Control characters and those that
/// change the direction of text are escaped, bytes that are no UTF-8 become U+FFFD.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value, int indent = -1);

}  // namespace vmnuma::text
