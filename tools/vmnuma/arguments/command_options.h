// SPDX-License-Identifier: Apache-2.0
/// Options shared by many commands, and parsers for values that CLI11 does not support.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/base/number.h"
#include "placement/base/result.h"
#include "placement/model/suggest.h"
#include "tools/vmnuma/arguments/invocation.h"

namespace vmnuma::tools {

/// Returns a range check that does not repeat the range in the help.
inline CLI::Validator in_range(std::int64_t smallest, std::int64_t largest) {
  return {[smallest, largest](const std::string& text) {
            const auto number = whole_number<std::int64_t>(text);
            return number && *number >= smallest && *number <= largest
                       ? std::string()
                       : fmt::format("'{}' is not a number from {} to {}", text, smallest, largest);
          },
          ""};
}

/// Rejects an empty text, which usually comes from a shell variable that is not set. It must not
/// count as an option that was left out.
inline CLI::Validator not_empty() {
  return {
      [](const std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); },
      ""};
}

inline constexpr std::int64_t kLongestWatch = 86'400;
/// The longest list of values that is shown on one line.
inline constexpr std::size_t kLongestShown = 40;

/// The values of options shared by several commands, and information about options.
struct SharedOptions {
  std::int64_t watch = -1;  ///< -1: not given; 0: given without a number
  std::string format{kListFormats.front()};
  struct Choices {
    std::string words;  ///< "table|csv"
    std::string help;   ///< the help without the words
  };
  std::map<const CLI::Option*, Choices> choices;  ///< for the completions
};

/// Returns "a, b, c" on as many lines as needed next to the column of the options.
template <class Names>
[[nodiscard]] std::string listed(const Names& names) {
  constexpr std::size_t kWidth = 54;
  std::string text;
  std::size_t line_begin = 0;
  for (const std::string_view name : names) {
    if (!text.empty()) {
      text += text.size() - line_begin + name.size() + 2 > kWidth ? ",\n" : ", ";
      line_begin = text.back() == '\n' ? text.size() : line_begin;
    }
    text += name;
  }
  return text;
}

/// Makes the option take one of these names. Its help shows them as the option's type, or below it
/// if they are too long.
template <class Names>
CLI::Option* take_one_of(CLI::Option* option, const Names& names, const char* type,
                         SharedOptions& shared) {
  std::string words = fmt::format("{}", fmt::join(names, "|"));
  const std::string help = option->get_description();
  if (words.size() <= kLongestShown) {
    option->type_name(words);
  } else {
    option->type_name(type)->description(fmt::format("{}:\n{}", help, listed(names)));
  }
  shared.choices[option] = {std::move(words), help};
  return option;
}

inline CLI::Option* add_format(CLI::App& command, SharedOptions& shared) {
  return take_one_of(command.add_option("-o", shared.format, "Output format"), kListFormats,
                     "FORMAT", shared)
      ->capture_default_str();
}

inline CLI::Option* add_period(CLI::App& command, const std::string& name, std::int64_t& seconds,
                               const std::string& help) {
  return command.add_option(name, seconds, help)
      ->check(in_range(0, kLongestWatch))
      ->type_name("[SECONDS]");
}

template <class T>
[[nodiscard]] Result<void> read_all(const char* name, const std::vector<std::string>& texts,
                                    Result<T> (*parse)(std::string_view), std::vector<T>& values) {
  for (const std::string& text : texts) {
    auto value = parse(text);
    if (!value) {
      return failure(std::move(value).error(), name);
    }
    values.push_back(std::move(*value));
  }
  return {};
}

/// Reads the value of an option that may be missing.
template <class Parse, class Value>
[[nodiscard]] Result<void> read_one(const char* name, const std::optional<std::string>& text,
                                    const Parse& parse, Value& value) {
  if (!text) {
    return {};
  }
  auto read = parse(*text);
  if (!read) {
    return failure(std::move(read).error(), name);
  }
  value = std::move(*read);
  return {};
}

/// Returns the index of the value named by `text`. The error names the most similar value, or all
/// if they are few.
[[nodiscard]] inline Result<std::size_t> find_choice(const char* name, const char* what,
                                                     const std::string& text,
                                                     const std::vector<std::string_view>& known) {
  const auto found = std::find(known.begin(), known.end(), text);
  if (found == known.end()) {
    std::string hint = did_you_mean(text, known);
    const std::string all = fmt::format("{}", fmt::join(known, ", "));
    if (hint.empty() && all.size() <= kLongestShown) {
      hint = "; there are " + all;
    }
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("{}: there is no {} '{}'{}", name, what, text, hint));
  }
  return static_cast<std::size_t>(found - known.begin());
}

}  // namespace vmnuma::tools
