// SPDX-License-Identifier: Apache-2.0
/// Describes the words and options of commands to CLI11, and parses values that it does not
/// support.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/base/names.h"
#include "placement/base/number.h"
#include "placement/base/result.h"
#include "placement/model/suggest.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/arguments/since.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"

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

/// The words and options of one command, with the variables that they fill (local_commands.h).
/// Values that CLI11 cannot parse itself are parsed by read(), after CLI11 has parsed the line.
class CommandSyntax {
 public:
  struct Range {
    std::int64_t smallest = 0;
    std::int64_t largest = 0;
  };

  CommandSyntax(CLI::App& command, SharedOptions& shared, std::int64_t now_unix_s)
      : command_(command), shared_(shared), now_unix_s_(now_unix_s) {}

  [[nodiscard]] CLI::App& command() { return command_; }

  CLI::Option* flag(const char* name, bool& value, const char* help) {
    return command_.add_flag(name, value, help);
  }
  void text(const char* name, std::string& value, const char* type, const char* help) {
    CLI::Option* option =
        command_.add_option(name, value, help)->check(not_empty())->type_name(type);
    if (!value.empty()) {
      option->capture_default_str();
    }
  }
  void text(const char* name, std::optional<std::string>& value, const char* type,
            const char* help) {
    command_.add_option(name, value, help)->check(not_empty())->type_name(type);
  }
  void either(const char* one, const char* other) {
    command_.get_option(one)->excludes(command_.get_option(other));
  }
  /// Makes the option valid only together with one of the others.
  void needs(const char* name, std::vector<const char*> others) {
    reads_.push_back([this, name, others = std::move(others)]() -> Result<void> {
      const auto is_given = [this](const char* one) {
        return command_.get_option(one)->count() > 0;
      };
      if (is_given(name) && std::none_of(others.begin(), others.end(), is_given)) {
        return failure(ErrorCode::kInvalidArgument,
                       fmt::format("{} needs {}", name, fmt::join(others, " or ")));
      }
      return {};
    });
  }
  /// Adds a number; its help shows the default.
  template <class Number>
  CLI::Option* number(const char* name, Number& value, Range range, const char* help,
                      const char* type = "N") {
    options_.push_back(add_number(name, value, range, help, type)->capture_default_str());
    return options_.back();
  }
  template <class Number>
  void number(const char* name, std::optional<Number>& value, Range range, const char* help,
              const char* type = "N") {
    add_number(name, value, range, help, type);
  }
  template <class Number>
  void required_number(const char* name, Number& value, Range range, const char* help,
                       const char* type = "") {
    add_number(name, value, range, help, type)->required();
  }
  /// Adds a word of any kind, which may be empty or missing.
  template <class Value>
  CLI::Option* word(const char* name, Value& value, const char* help) {
    return command_.add_option(name, value, help)->type_name("");
  }
  void argument(const char* name, std::string& value, const char* help) {
    word(name, value, help)->required()->check(not_empty());
  }
  template <class Value>
  void optional_argument(const char* name, Value& value, const char* help) {
    word(name, value, help)->check(not_empty());
  }
  void arguments(const char* name, std::vector<std::string>& values, const char* help) {
    word(name, values, help);
  }
  /// Adds an option that may be given several times.
  CLI::Option* texts(const char* name, std::vector<std::string>& values, const char* type,
                     const char* help) {
    return command_.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
  }
  void watch(const char* help) { add_period("--watch", shared_.watch, help); }
  void listing() {
    take_one_of(command_.add_option("-o", shared_.format, "Output format"), kListFormats, "FORMAT")
        ->capture_default_str();
  }
  /// Adds an option with an optional period, which excludes --watch.
  void period(const char* name, bool& is_given, std::int64_t& seconds, const char* help) {
    CLI::Option* period = add_period(name, text_of(name).seconds, help);
    if (CLI::Option* watch = command_.get_option_no_throw("--watch"); watch != nullptr) {
      period->excludes(watch);
    }
    reads_.push_back([this, name, &is_given, &seconds]() -> Result<void> {
      is_given = text_of(name).seconds >= 0;
      seconds = std::max<std::int64_t>(text_of(name).seconds, 0);
      return {};
    });
  }
  /// Adds a required option whose value is the name of an enumerator.
  template <class Choice>
  void choice(const char* name, Choice& value, const char* help) {
    one_of(name, "format", value, help)->required();
  }
  /// Likewise; if missing, `value` is unchanged.
  template <class Choice>
  void usually(const char* name, Choice& value, const char* help) {
    text_of(name).text = name_of(value);
    one_of(name, "value", value, help)->capture_default_str();
  }
  /// Adds an option whose value is one of `known` and stays a text. `what` is the kind of value,
  /// for messages.
  template <class Value, class Names>
  CLI::Option* known_text(const char* name, const char* what, Value& value, const Names& known,
                          const char* type, const char* help) {
    CLI::Option* option = take_one_of(command_.add_option(name, value, help), known, type);
    reads_.push_back([option, name, what, known]() -> Result<void> {
      if (option->count() > 0) {
        VMNUMA_RETURN_IF_ERROR(find_choice(name, what, option->template as<std::string>(),
                                           {known.begin(), known.end()}));
      }
      return {};
    });
    return option;
  }
  /// Adds an option whose value `parse` reads; if missing, `value` is unchanged.
  template <class Value, class Parse>
  CLI::Option* parsed(const char* name, Value& value, Parse parse, const char* type,
                      const char* help) {
    CLI::Option* option = command_.add_option(name, text_of(name).text, help)->type_name(type);
    reads_.push_back([this, option, name, parse, &value]() -> Result<void> {
      if (option->count() > 0) {
        VMNUMA_ASSIGN_OR_RETURN(value, within(name, parse(text_of(name).text)));
      }
      return {};
    });
    return option;
  }
  /// Likewise for an option that may be given several times.
  template <class Value>
  void parsed_all(const char* name, std::vector<Value>& values,
                  Result<Value> (*parse)(std::string_view), const char* type, const char* help) {
    texts(name, text_of(name).texts, type, help);
    reads_.push_back([this, name, parse, &values]() -> Result<void> {
      for (const std::string& text : text_of(name).texts) {
        VMNUMA_ASSIGN_OR_RETURN(auto value, within(name, parse(text)));
        values.push_back(std::move(value));
      }
      return {};
    });
  }
  void values(const char* name, std::vector<std::pair<std::string, std::int64_t>>& values,
              const char* help) {
    parsed_all(name, values, parse_named_value, "NAME=VALUE", help);
  }
  void since(const char* name, std::int64_t& since_unix_s, std::int64_t& until_unix_s,
             const char* usual, const char* help) {
    text_of(name).text = usual;
    command_.add_option(name, text_of(name).text, help)->type_name("WHEN")->capture_default_str();
    reads_.push_back([this, name, &since_unix_s, &until_unix_s]() -> Result<void> {
      until_unix_s = now_unix_s_;
      VMNUMA_ASSIGN_OR_RETURN(since_unix_s,
                              within(name, parse_since(text_of(name).text, now_unix_s_)));
      if (since_unix_s >= now_unix_s_) {
        return failure(ErrorCode::kInvalidArgument, fmt::format("{} must be in the past", name));
      }
      return {};
    });
  }
  void since(const char* name, std::optional<std::int64_t>& since_unix_s, const char* help) {
    when(name, since_unix_s, help)->check(not_empty());
  }
  /// Adds a time, which may be an age.
  CLI::Option* when(const char* name, std::optional<std::int64_t>& unix_s, const char* help) {
    const auto parse = [this](std::string_view text) { return parse_since(text, now_unix_s_); };
    return parsed(name, unix_s, parse, "WHEN", help);
  }

  /// Parses the remaining values. Error: that of the first invalid text.
  [[nodiscard]] Result<void> read() const {
    for (const auto& read : reads_) {
      VMNUMA_RETURN_IF_ERROR(read());
    }
    return {};
  }
  /// Returns the options that are numbers and have a default.
  [[nodiscard]] const std::vector<CLI::Option*>& options() const { return options_; }

 private:
  /// The value of one option, as given.
  struct Text {
    std::string text;
    std::vector<std::string> texts;
    std::int64_t seconds = -1;  ///< not given; 0: without a number
  };
  Text& text_of(const char* name) { return texts_[name]; }

  template <class Value>
  static Result<Value> within(const char* name, Result<Value> read) {
    return std::move(read).map_error([name](Error error) { return std::move(error).within(name); });
  }

  template <class Number>
  CLI::Option* add_number(const char* name, Number& value, Range range, const char* help,
                          const char* type) {
    return command_.add_option(name, value, help)
        ->check(in_range(range.smallest, range.largest))
        ->type_name(type);
  }

  CLI::Option* add_period(const char* name, std::int64_t& seconds, const char* help) {
    return add_number(name, seconds, {0, kLongestWatch}, help, "[SECONDS]");
  }

  /// Makes the option take one of these names. Its help shows them as the option's type, or below
  /// it if they are too long.
  template <class Names>
  CLI::Option* take_one_of(CLI::Option* option, const Names& names, const char* type) {
    std::string words = fmt::format("{}", fmt::join(names, "|"));
    const std::string help = option->get_description();
    if (words.size() <= kLongestShown) {
      option->type_name(words);
    } else {
      option->type_name(type)->description(fmt::format("{}:\n{}", help, listed(names)));
    }
    shared_.choices[option] = {std::move(words), help};
    return option;
  }

  /// `what` is the kind of choice, for messages.
  template <class Choice>
  CLI::Option* one_of(const char* name, const char* what, Choice& value, const char* help) {
    constexpr auto kKnown = names(Choice{});
    reads_.push_back([this, name, what, &value, kKnown] {
      return find_choice(name, what, text_of(name).text, {kKnown.begin(), kKnown.end()})
          .map([&value](std::size_t index) { value = static_cast<Choice>(index); });
    });
    return take_one_of(command_.add_option(name, text_of(name).text, help), kKnown, "CHOICE");
  }

  static Result<std::pair<std::string, std::int64_t>> parse_named_value(std::string_view text) {
    return parse_option_value(text).map([](balancer::WhatIfRequest::OptionValue option) {
      return std::pair(std::move(option.name), option.value);
    });
  }

  CLI::App& command_;
  SharedOptions& shared_;
  std::int64_t now_unix_s_;
  std::map<std::string, Text> texts_;
  std::vector<std::function<Result<void>()>> reads_;
  std::vector<CLI::Option*> options_;
};

}  // namespace vmnuma::tools
