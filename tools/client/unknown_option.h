// SPDX-License-Identifier: Apache-2.0
/// The messages of programs that use CLI11 about options and arguments that do not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "placement/model/suggest.h"

namespace vmnuma::tools {

/// Returns the message, such as "there is no option '--lsiten'; did you mean '--listen'?" Options
/// of the parent commands of `app` are valid as well. If `app` has the option but it was given
/// before the command: "'--once' belongs after 'top'". `word` may have a value after a '='.
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

/// Returns the text of the error that parse() threw, or what is wrong with the first word that was
/// not accepted.
[[nodiscard]] inline std::string problem_of(const CLI::App& app, const CLI::ParseError& error) {
  bool options_end = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--") {
      options_end = true;
      continue;
    }
    const bool is_option = !options_end && word.size() > 1 && word.starts_with('-');
    return is_option ? no_such_option(app, word) : "there is no argument '" + word + "'";
  }
  return error.what();
}

}  // namespace vmnuma::tools
