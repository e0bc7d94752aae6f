// SPDX-License-Identifier: Apache-2.0
/// Quotes words of a command that is to be copied from a terminal into a shell.
///
/// Problem: the name of a VM may be anything, and a pasted command is executed. Approach: quote a
/// word unless a shell would read it unchanged. Properties: a shell reads the original bytes as one
/// word; the output is printable().
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::text {

/// Returns the word unchanged, 'in quotes' (POSIX.1-2017, XCU 2.2.2) or, if it is not printable, in
/// the form $'\012' (bash(1), QUOTING; POSIX.1-2024).
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace vmnuma::text
