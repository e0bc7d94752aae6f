// SPDX-License-Identifier: Apache-2.0
/// Common parts of the completions of all programs: kinds of words, and texts quoted for shells.
/// Internal to this folder.
///
/// A kind says what a word may be: "file", "vm", "node", "option", "reservation", "scenario"; one
/// of several known words; followed by "=", the part of the word before that; empty: nothing can be
/// offered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::tools {

/// The kind "one of these words"; the words are separated by '|'.
[[nodiscard]] std::string one_of(std::string_view words);

/// The words of such a kind; none for other kinds.
[[nodiscard]] std::vector<std::string> words_of(std::string_view kind);

/// A word's kind, from its name in the help.
[[nodiscard]] std::string kind_named(std::string_view name);

/// Text within single quotes, with what _arguments and _describe of zsh read as separators escaped.
[[nodiscard]] std::string zsh_text(std::string_view text);

/// Text in quotes of fish.
[[nodiscard]] std::string fish_text(std::string_view text);

/// " -l name" or " -s n" of fish's `complete`.
[[nodiscard]] std::string fish_option(std::string_view name);

}  // namespace vmnuma::tools
