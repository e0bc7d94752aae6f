// SPDX-License-Identifier: Apache-2.0
/// Words of a command that people copy from a terminal into a shell.
///
/// Problem: the name of a VM may be anything, and what is printed to be pasted is obeyed. Approach:
/// a word is quoted where a shell would read more than a word in it. Property: a shell reads the
/// bytes that went in, as one word; what comes out is printable().
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::text {

/// As it is, 'in quotes' (POSIX.1-2017, XCU 2.2.2), or, if it is not printable, $'\012' (bash(1),
/// QUOTING; POSIX.1-2024).
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace vmnuma::text
