// SPDX-License-Identifier: Apache-2.0
#include "tools/describe/program_completion.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/describe/completion_words.h"

namespace vmnuma::tools {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Parses an option such as "-h, --help", "--socket PATH=/run/x", "--dry-run Excludes: --replay".
OptionInfo option_from(std::string_view text) {
  OptionInfo option;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word && !word.ends_with(':');) {
    if (!word.starts_with('-')) {
      option.value = word.substr(0, word.find_first_of("=:"));
      break;
    }
    std::istringstream names(word);
    for (std::string name; std::getline(names, name, ',');) {
      option.names.push_back(name);
    }
  }
  return option;
}

/// Returns whether the value may be left out, which is shown by brackets.
bool is_optional(const OptionInfo& option) {
  return option.value.starts_with('[');
}

std::string value_kind(const OptionInfo& option) {
  std::string_view name = option.value;
  if (is_optional(option)) {
    name = name.substr(1, name.size() - 2);
  }
  return words_of(name).empty() ? kind_named(name) : std::string(name);
}

std::string function_name(std::string_view program) {
  std::string name = "_" + std::string(program);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Returns the command that prints the possible words for a value; empty if there is none.
std::string printing_words(const std::string& kind) {
  const std::vector<std::string> words = words_of(kind);
  return !words.empty()       ? fmt::format("echo {}", fmt::join(words, " "))
         : kind == "scenario" ? "vmnuma sim list -o name 2>/dev/null"
                              : "";
}

std::string bash_completion(std::string_view program, const std::vector<OptionInfo>& options) {
  std::vector<std::string> all;
  std::string cases;
  for (const OptionInfo& option : options) {
    all.insert(all.end(), option.names.begin(), option.names.end());
    if (option.value.empty()) {
      continue;
    }
    const std::string kind = value_kind(option);
    const std::string words = printing_words(kind);
    cases += fmt::format("    {}) ", fmt::join(option.names, " | "));
    if (kind == "file") {
      cases +=
          "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); "
          "return ;;\n";
    } else if (!words.empty()) {
      cases += fmt::format("words=\"{}$({})\" ;;\n", is_optional(option) ? "$words " : "", words);
    } else {
      cases += "return ;;\n";
    }
  }
  return fmt::format(
      "# Completion of {0} for bash, made from its --help.\n\n"
      "{1}() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}}\n"
      "  local words='{2}'\n"
      "  COMPREPLY=()\n"
      "  case ${{COMP_WORDS[COMP_CWORD - 1]}} in\n"
      "{3}"
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "}}\n\n"
      "complete -F {1} {0}\n",
      program, function_name(program), fmt::join(all, " "), cases);
}

std::string zsh_completion(std::string_view program, const std::vector<OptionInfo>& options) {
  std::string out = fmt::format(
      "#compdef {0}\n"
      "# Completion of {0} for zsh, made from its --help.\n\n"
      "_arguments",
      program);
  for (const OptionInfo& option : options) {
    for (const std::string& name : option.names) {
      out += fmt::format(" \\\n  '{}[{}]", name, zsh_text(option.help));
      if (!option.value.empty()) {
        const std::string kind = value_kind(option);
        const std::string words = printing_words(kind);
        out += fmt::format("{}:value:{}", is_optional(option) ? ":" : "",
                           kind == "file"  ? "_files"
                           : words.empty() ? " "
                                           : fmt::format("{{compadd -- $({})}}", words));
      }
      out += "'";
    }
  }
  return out + "\n";
}

std::string fish_completion(std::string_view program, const std::vector<OptionInfo>& options) {
  std::string out = fmt::format(
      "# Completion of {0} for fish, made from its --help.\n\ncomplete -c {0} -f\n", program);
  for (const OptionInfo& option : options) {
    out += fmt::format("complete -c {}{}", program, fish_options(option.names));
    if (!option.value.empty()) {
      const std::string kind = value_kind(option);
      const std::string words = printing_words(kind);
      out += kind == "file"  ? " -r -F"
             : words.empty() ? " -x"
                             : fmt::format(" -x -a '({} | string split \" \")'", words);
    }
    out += fmt::format(" -d {}\n", fish_text(option.help));
  }
  return out;
}

}  // namespace

std::vector<OptionInfo> options_of_help(std::string_view help) {
  std::vector<OptionInfo> options;
  std::istringstream lines{std::string(help)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  -")) {
      const std::size_t gap = line.find("  ", 2);
      OptionInfo& option = options.emplace_back(option_from(line.substr(0, gap)));
      option.help = gap == std::string::npos ? "" : trimmed(std::string_view(line).substr(gap));
    } else if (!options.empty() && line.starts_with("     ")) {
      OptionInfo& option = options.back();
      const std::string_view more = trimmed(line);
      if (option.help.ends_with(':') && more.find(' ') == std::string_view::npos) {
        option.value =
            words_of(option.value).empty() ? one_of(more) : option.value + "|" + std::string(more);
      } else {
        option.help.append(option.help.empty() ? "" : " ").append(more);
      }
    }
  }
  return options;
}

Result<std::string> program_completion(std::string_view shell, std::string_view program,
                                       std::string_view help) {
  const std::vector<OptionInfo> options = options_of_help(help);
  if (options.empty()) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the help of {} lists no options", program));
  }
  if (shell == "bash") {
    return bash_completion(program, options);
  }
  if (shell == "fish") {
    return fish_completion(program, options);
  }
  if (shell == "zsh") {
    return zsh_completion(program, options);
  }
  return failure(ErrorCode::kInvalidArgument, fmt::format("'{}' is no shell that is known", shell));
}

}  // namespace vmnuma::tools
