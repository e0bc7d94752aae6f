// SPDX-License-Identifier: Apache-2.0
/// Foreign text, made fit for terminals and logs.
///
/// Problem: libvirt accepts almost any bytes as a VM's name, and metadata, cgroup paths and the
/// daemon's messages contain them, too. A terminal obeys control characters; a line end turns half
/// a message into a second log entry; and characters that change the direction of text make a line
/// read as something else. Approach: text is kept unchanged, since names must compare and reach
/// libvirt unchanged, and is made printable on output: the log, tables, messages; JSON has escapes
/// of its own (stats/text/json.h). The replacement shows which character it was.
///
/// Terms: *unprintable* - C0 and C1 control characters and DEL (ECMA-48), line and paragraph
/// separators, the byte order mark, and the bidirectional formatting characters (Unicode 15, UAX
/// #9, section 2).
///
/// Properties:
///  - printable text comes out unchanged;
///  - the result is UTF-8 without any unprintable character.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::text {

/// "\n", "\t" and "\r", "\x1b" for other control characters and for invalid UTF-8, "\u202e" for the
/// rest.
[[nodiscard]] std::string printable(std::string_view text);

/// JSON text with "\u" escapes in place of unprintable characters, except the line ends of its
/// layout. All others are inside strings.
[[nodiscard]] std::string escaped_json(std::string_view json);

}  // namespace vmnuma::text
