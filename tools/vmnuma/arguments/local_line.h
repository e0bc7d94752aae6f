// SPDX-License-Identifier: Apache-2.0
/// The interface with which local_commands.h describes a command's words and options.
#pragma once

#include <algorithm>
#include <array>
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

#include "placement/base/result.h"
#include "tools/vmnuma/arguments/command_options.h"
#include "tools/vmnuma/arguments/since.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"

namespace vmnuma::tools {

/// The options of one local command, as its describe() lists them (local_commands.h). Values that
/// CLI11 cannot parse itself are parsed by read(), after CLI11 has parsed the line.
class LocalLine {
 public:
  struct Range {
    std::int64_t smallest = 0;
    std::int64_t largest = 0;
  };

  LocalLine(CLI::App& command, SharedOptions& shared, std::int64_t now_unix_s)
      : command_(command), shared_(shared), now_unix_s_(now_unix_s) {}

  void flag(const char* name, bool& value, const char* help) {
    command_.add_flag(name, value, help);
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
  void number(const char* name, std::int64_t& value, Range range, const char* help) {
    options_.push_back(command_.add_option(name, value, help)
                           ->check(in_range(range.smallest, range.largest))
                           ->type_name("N")
                           ->capture_default_str());
  }
  void number(const char* name, std::optional<std::int64_t>& value, Range range, const char* help) {
    command_.add_option(name, value, help)
        ->check(in_range(range.smallest, range.largest))
        ->type_name("N");
  }
  void argument(const char* name, std::string& value, const char* help) {
    command_.add_option(name, value, help)->required()->check(not_empty())->type_name("");
  }
  void optional_argument(const char* name, std::string& value, const char* help) {
    command_.add_option(name, value, help)->check(not_empty())->type_name("");
  }
  /// Adds an option that may be given several times.
  void texts(const char* name, std::vector<std::string>& values, const char* type,
             const char* help) {
    command_.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
  }
  void arguments(const char* name, std::vector<std::string>& values, const char* help) {
    command_.add_option(name, values, help)->type_name("");
  }
  void watch(const char* help) { add_period(command_, "--watch", shared_.watch, help); }
  void listing() { add_format(command_, shared_); }
  /// Adds an option with an optional period, which excludes --watch.
  void period(const char* name, bool& is_given, std::int64_t& seconds, const char* help) {
    CLI::Option* period = add_period(command_, name, text_of(name).seconds, help);
    if (CLI::Option* watch = command_.get_option_no_throw("--watch"); watch != nullptr) {
      period->excludes(watch);
    }
    reads_.push_back([this, name, &is_given, &seconds]() -> Result<void> {
      is_given = text_of(name).seconds >= 0;
      seconds = std::max<std::int64_t>(text_of(name).seconds, 0);
      return {};
    });
  }
  template <class Choice, std::size_t kCount>
  void choice(const char* name, Choice& value, const std::array<std::string_view, kCount>& known,
              const char* help) {
    one_of(name, "format", value, known, help)->required();
  }
  /// Adds an option whose value is one of `known`; if missing, `value` is unchanged.
  template <class Choice, std::size_t kCount>
  void usually(const char* name, Choice& value, const std::array<std::string_view, kCount>& known,
               const char* help) {
    text_of(name).text = known[static_cast<std::size_t>(value)];
    one_of(name, "value", value, known, help)->capture_default_str();
  }
  void since(const char* name, std::int64_t& since_unix_s, std::int64_t& until_unix_s,
             const char* usual, const char* help) {
    text_of(name).text = usual;
    command_.add_option(name, text_of(name).text, help)->type_name("WHEN")->capture_default_str();
    reads_.push_back([this, name, &since_unix_s, &until_unix_s]() -> Result<void> {
      until_unix_s = now_unix_s_;
      return parse_since(text_of(name).text, now_unix_s_)
          .map_error([name](Error error) { return std::move(error).within(name); })
          .and_then([&](std::int64_t since) -> Result<void> {
            since_unix_s = since;
            if (since >= now_unix_s_) {
              return failure(ErrorCode::kInvalidArgument,
                             fmt::format("{} must be in the past", name));
            }
            return {};
          });
    });
  }
  void since(const char* name, std::optional<std::int64_t>& since_unix_s, const char* help) {
    command_.add_option(name, text_of(name).text, help)->check(not_empty())->type_name("WHEN");
    reads_.push_back([this, name, &since_unix_s]() -> Result<void> {
      if (text_of(name).text.empty()) {
        return {};
      }
      return parse_since(text_of(name).text, now_unix_s_)
          .map([&since_unix_s](std::int64_t since) { since_unix_s = since; })
          .map_error([name](Error error) { return std::move(error).within(name); });
    });
  }
  void values(const char* name, std::vector<std::pair<std::string, std::int64_t>>& values,
              const char* help) {
    command_.add_option(name, text_of(name).texts, help)
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    reads_.push_back([this, name, &values] {
      return read_all(name, text_of(name).texts, parse_named_value, values);
    });
  }

  /// Parses the remaining values. Error: that of the first invalid text.
  [[nodiscard]] Result<void> read() const {
    for (const auto& read : reads_) {
      if (Result<void> done = read(); !done) {
        return done;
      }
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

  /// `what` is the kind of choice, for messages.
  template <class Choice, std::size_t kCount>
  CLI::Option* one_of(const char* name, const char* what, Choice& value,
                      const std::array<std::string_view, kCount>& known, const char* help) {
    reads_.push_back([this, name, what, &value, &known] {
      return find_choice(name, what, text_of(name).text, {known.begin(), known.end()})
          .map([&value](std::size_t index) { value = static_cast<Choice>(index); });
    });
    return take_one_of(command_.add_option(name, text_of(name).text, help), known, "CHOICE",
                       shared_);
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
