// SPDX-License-Identifier: Apache-2.0
/// Makes text from outside safe for terminals and logs.
///
/// Problem: libvirt accepts almost any bytes as a VM's name, and metadata, cgroup paths and the
/// daemon's messages contain them, too. Control characters control a terminal; a line end splits a
/// message into two log entries; and characters that change the direction of text can make a line
/// read as something else. Approach: text is kept unchanged, because names are compared and passed
/// to libvirt, and is made printable only for output to the log, tables and messages; JSON has its
/// own escapes (stats/text/json.h). The replacement shows which character it was.
///
/// Terms: *unprintable* - C0 and C1 control characters and DEL (ECMA-48), line and paragraph
/// separators, the byte order mark, and the bidirectional formatting characters (Unicode 15, UAX
/// #9, section 2).
///
/// Properties:
///  - printable text is not changed;
///  - the result is UTF-8 without any unprintable character.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::text {

/// Returns the text with unprintable characters replaced: by "\n", "\t" and "\r", by "\x1b" for
/// other control characters and for invalid UTF-8, by "\u202e" for the rest.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns the JSON text with "\u" escapes in place of unprintable characters, except the line ends
/// of its layout; all others can only be inside strings.
[[nodiscard]] std::string escaped_json(std::string_view json);

}  // namespace vmnuma::text
