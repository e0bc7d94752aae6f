// SPDX-License-Identifier: Apache-2.0
/// Reads and writes JSON. All code uses these functions.
///
/// Problem: most of the JSON that our programs read was written by another program, by another
/// version, or by us before a disk damaged it. A parser without limits needs many times the text's
/// size in memory, so a line of a few megabytes can exhaust a host; and perfectly valid JSON may
/// still contain characters that control a terminal. Approach: a text is measured before it is
/// parsed, and rejected if it is too long, nested too deeply or has too many values; output escapes
/// every character that is not printable(). Terms: *value* - an object, list, string, number or
/// literal.
///
/// Properties:
///  - no text makes read_json() throw, or allocate a parse tree beyond its limits;
///  - read_json(json_text(x)) equals x if the strings in x are UTF-8;
///  - json_text() is printable() except for the layout's own line ends.
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
  std::size_t depth = 32;  ///< brackets open at the same time; our deepest formats have about 12
  std::size_t values = 4'000'000;  ///< some 250 MB if all of them are objects
  std::size_t members = 512;       ///< per object: ordered objects search them linearly
};

/// Parses a whole text, which must be an object, as in all our formats. Messages begin with `what`,
/// such as "the request", "line 7". For nlohmann::json and nlohmann::ordered_json. Errors: corrupt
/// (a limit is exceeded, or it is not a JSON object).
template <class Json>
[[nodiscard]] Result<Json> read_json(std::string_view text, const JsonLimits& limits,
                                     std::string_view what);

/// Returns the number if the value is an integer that fits the type; otherwise nothing.
template <class Json>
[[nodiscard]] std::optional<std::int64_t> integer_of(const Json& value);

/// Returns the value as text on one line, or indented by that many columns per level. Control
/// characters and those that change the direction of text are escaped, invalid UTF-8 becomes
/// U+FFFD.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value, int indent = -1);

}  // namespace vmnuma::text
