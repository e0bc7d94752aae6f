// SPDX-License-Identifier: Apache-2.0
/// What completions of all programs have in common: kinds of words, and texts as shells quote them.
/// Internal to this folder.
///
/// A kind says what may stand in a word's place: "file", "vm", "node", "option", "reservation",
/// "scenario"; one of words that are known; with "=" behind it what comes before that in the word;
/// nothing that can be offered, if it is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::tools {

/// The kind "one of these words", which are separated by '|'.
[[nodiscard]] std::string one_of(std::string_view words);

/// The words of such a kind; none of another.
[[nodiscard]] std::vector<std::string> words_of(std::string_view kind);

/// A word's kind, by what the help calls it.
[[nodiscard]] std::string kind_named(std::string_view name);

/// Text within single quotes, with what _arguments and _describe of zsh read as separators escaped.
[[nodiscard]] std::string zsh_text(std::string_view text);

/// In quotes of fish.
[[nodiscard]] std::string fish_text(std::string_view text);

/// " -l name" or " -s n" of fish's `complete`.
[[nodiscard]] std::string fish_option(std::string_view name);

}  // namespace vmnuma::tools
