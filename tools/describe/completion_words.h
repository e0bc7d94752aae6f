// SPDX-License-Identifier: Apache-2.0
/// Common parts of the completions of all programs: kinds of words, and texts quoted for shells.
/// Internal to this folder.
///
/// A kind states what a word may be: "file", "vm", "node", "option", "reservation", "scenario", or
/// one of several known words. A kind that ends in "=" describes the part of a word before the "=";
/// for an empty kind nothing can be offered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::tools {

/// Returns the kind "one of these words"; `words` are separated by '|'.
[[nodiscard]] std::string one_of(std::string_view words);

/// Returns the words of such a kind; none for other kinds.
[[nodiscard]] std::vector<std::string> words_of(std::string_view kind);

/// Returns a word's kind, from its name in the help.
[[nodiscard]] std::string kind_named(std::string_view name);

/// Returns the text for use within single quotes, with the characters escaped that zsh's _arguments
/// and _describe read as separators.
[[nodiscard]] std::string zsh_text(std::string_view text);

/// Returns the text in fish's quotes.
[[nodiscard]] std::string fish_text(std::string_view text);

/// Returns " -s n -l name" for "-n" and "--name", for fish's `complete`.
[[nodiscard]] std::string fish_options(const std::vector<std::string>& names);

}  // namespace vmnuma::tools
