// SPDX-License-Identifier: Apache-2.0
/// Formats figures, names and sentences for users at a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/ids.h"
#include "stats/text/printable.h"

namespace vmnuma::tools {

/// The width into which every command's output fits.
inline constexpr std::size_t kTerminalWidth = 80;

/// Names and messages from outside must pass through this before they reach a terminal.
using text::printable;

/// Returns each line of the text after `prefix`, printable() and terminated by '\n'.
[[nodiscard]] std::string printable_lines(std::string_view text, std::string_view prefix = "");

/// Returns the columns that UTF-8 text takes: two for each East Asian wide character, as fmt pads
/// them, and one for each other character.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Returns as much as fits into the first `width` columns, without a mark if something was cut off.
[[nodiscard]] std::string first_columns(const std::string& text, std::size_t width);

/// Likewise, but text that was cut off ends in "...".
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

/// Returns the sentence in lines of at most kTerminalWidth, each indented and terminated by '\n'. A
/// word that is longer than a line gets its own line.
[[nodiscard]] std::string wrapped(std::string_view sentence, std::size_t indent);

/// "512 B", "3.0 GiB": binary units, one digit after the point, rounded down; "-" if unknown.
[[nodiscard]] std::string bytes_text(const std::optional<std::int64_t>& known);
/// "12 ms", "3 %", or "12" without a unit; "-" if unknown.
[[nodiscard]] std::string figure_text(const std::optional<std::int64_t>& figure,
                                      std::string_view unit = "");
/// "1 VM", "2 VMs"; "- VMs" if unknown.
[[nodiscard]] std::string counted_text(const std::optional<std::int64_t>& count,
                                       std::string_view noun);
/// "12.3" for 123 thousandths, in per cent, with the unit; "-" if unknown.
[[nodiscard]] std::string permille_text(const std::optional<std::int64_t>& permille,
                                        std::string_view unit = "");

/// "1", or "-" for no node.
[[nodiscard]] std::string node_text(NodeId node);
/// "0-1,3", or "-" for none.
[[nodiscard]] std::string nodes_text(const std::vector<NodeId>& nodes);
/// "0-3,5" for numbers in ascending order, or "-" for none.
[[nodiscard]] std::string numbers_text(const std::vector<std::int32_t>& numbers);

/// "2025-01-31 13:00:00" in the time zone of the environment (TZ).
[[nodiscard]] std::string local_time_text(std::int64_t unix_s);

}  // namespace vmnuma::tools
