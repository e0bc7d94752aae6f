// SPDX-License-Identifier: Apache-2.0
/// The message of a program that uses CLI11 about an option that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "placement/model/suggest.h"

namespace vmnuma::tools {

/// "there is no option '--lsiten'; did you mean '--listen'?" Options of the parent commands of
/// `app` are valid as well; "'--once' belongs after 'top'" if `app` has it and it stands before.
/// `word` may have a value after a '='.
[[nodiscard]] inline std::string no_such_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (app.get_parent() != nullptr && app.get_option_no_throw(name) != nullptr) {
    return "'" + name + "' belongs after '" + app.get_name() + "'";
  }
  std::vector<std::string> names;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      names.push_back(option->get_name());
    }
  }
  return "there is no option '" + name + "'" +
         did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
}

/// The text of what parse() threw, with a suggestion for an option that does not exist.
[[nodiscard]] inline std::string problem_of(const CLI::App& app, const CLI::ParseError& error) {
  for (const std::string& word : app.remaining()) {
    if (word == "--") {
      break;  // no options follow
    }
    if (word.size() > 1 && word.starts_with('-')) {
      return no_such_option(app, word);
    }
  }
  return error.what();
}

}  // namespace vmnuma::tools
