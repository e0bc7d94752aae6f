// SPDX-License-Identifier: Apache-2.0
/// Text that somebody else wrote, made fit for terminals and logs.
///
/// Problem: libvirt takes almost any bytes as a VM's name, and metadata, cgroup paths and the
/// daemon's messages have more of the kind. A terminal obeys control characters; a line end makes a
/// second log entry out of half a message; and characters that change the direction of text make a
/// line read as something else. Approach: text is kept as it came, since names must compare and
/// reach libvirt as they are, and is made printable where it goes out: the log, tables, messages;
/// JSON has escapes of its own (stats/text/json.h). What is shown for such a character says which
/// it was.
///
/// Terms: *unprintable* - C0 and C1 control characters and DEL (ECMA-48), line and paragraph
/// separators, the byte order mark, and the bidirectional formatting characters (Unicode 15, UAX
/// #9, section 2).
///
/// Properties:
///  - printable text comes out as it is;
///  - what comes out is UTF-8 without any unprintable character.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::text {

/// "\n", "\t" and "\r", "\x1b" for other control characters and for bytes that are no UTF-8,
/// "\u202e" for the rest.
[[nodiscard]] std::string printable(std::string_view text);

/// JSON text with "\u" escapes in place of unprintable characters, all of which are in strings but
/// for the line ends of its layout: those stay.
[[nodiscard]] std::string escaped_json(std::string_view json);

}  // namespace vmnuma::text
