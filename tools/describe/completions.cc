// SPDX-License-Identifier: Apache-2.0
#include "tools/describe/completions.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/base/mapped.h"
#include "tools/describe/completion_words.h"
#include "tools/describe/template.h"
#include "tools/vmnuma/arguments/invocation.h"

namespace vmnuma::tools {

namespace {

std::string kind_of(const CommandInfo& command, const OptionInfo& option) {
  // These VMs are not the host's: in `what-if --add`, and in `sim run --explain`.
  const std::string& name = option.names.back();
  const bool elsewhere = name == "--add" || (command.name == "run" && name == "--explain");
  return elsewhere ? "" : kind_named(option.value);
}

std::string kind_of(const CommandInfo& command, const ArgumentInfo& argument) {
  if (command.name == "start" || command.name == "reserve") {
    return "";  // the name is a new one
  }
  return command.name == "unreserve" ? "reservation" : kind_named(argument.name);
}

using Visit = std::function<void(const std::string& path, const CommandInfo& command)>;

/// Calls `visit` for the program itself with "", and for every command with its words.
void each_command(const CommandInfo& command, const Visit& visit, const std::string& path = "") {
  visit(path, command);
  for (const CommandInfo& below : command.commands) {
    each_command(below, visit, path.empty() ? below.name : path + " " + below.name);
  }
}

/// Returns the command's options and those of the program that are valid after every command.
std::vector<OptionInfo> options_after(const CommandInfo& program, const CommandInfo& command) {
  std::vector<OptionInfo> options = command.options;
  if (&command != &program) {
    std::ranges::copy_if(program.options, std::back_inserter(options),
                         [](const OptionInfo& option) {
                           const std::string& name = option.names.back();
                           return name == "--socket" || name == "--sim" || name == "--json";
                         });
  }
  return options;
}

/// Returns only the commands, for words after `help`.
CommandInfo without_words(CommandInfo command) {
  command.options.clear();
  command.arguments.clear();
  for (CommandInfo& below : command.commands) {
    below = without_words(std::move(below));
  }
  return command;
}

/// Returns the program with two more commands that are not in the table.
CommandInfo with_help_and_version(CommandInfo program) {
  CommandInfo help = without_words(program);
  help.name = "help";
  help.help = "How a command is used";
  program.commands.push_back(std::move(help));
  program.commands.push_back({"version", "The program's version", {}, {}, {}, {}});
  return program;
}

// ---- bash ----

/// Returns the branches of a `case` over commands, with the results of `of`; an empty result is
/// left out.
std::string cases(const CommandInfo& program,
                  const std::function<std::vector<std::string>(const CommandInfo&)>& of) {
  std::string out;
  each_command(program, [&](const std::string& path, const CommandInfo& command) {
    if (const std::vector<std::string> words = of(command); !words.empty()) {
      out += fmt::format("    '{}') echo '{}' ;;\n", path, fmt::join(words, " "));
    }
  });
  return out;
}

std::vector<std::string> names_below(const CommandInfo& command) {
  return mapped(command.commands, &CommandInfo::name);
}

std::vector<std::string> argument_kinds(const CommandInfo& command) {
  std::vector<std::string> kinds;
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string kind = kind_of(command, argument);
    kinds.push_back(kind.empty() ? "any" : kind);
    if (argument.repeatable) {
      kinds.emplace_back("*");
    }
  }
  return kinds;
}

std::string value_cases(const CommandInfo& program) {
  std::string out;
  each_command(program, [&](const std::string& path, const CommandInfo& command) {
    for (const OptionInfo& option : options_after(program, command)) {
      for (const std::string& name : option.names) {
        if (!option.value.empty()) {
          const std::string kind = kind_of(command, option);
          out +=
              fmt::format("    '{} {}') echo '{}' ;;\n", path, name, kind.empty() ? "any" : kind);
        }
      }
    }
  });
  return out;
}

// ---- zsh ----

std::string zsh_action(const std::string& kind) {
  if (const std::vector<std::string> words = words_of(kind); !words.empty()) {
    return words.front().ends_with('=')
               ? fmt::format("{{compadd -S \"\" -- {}}}", fmt::join(words, " "))
               : fmt::format("({})", fmt::join(words, " "));
  }
  return kind.empty() ? " " : kind == "file" ? "_files" : "_vmnuma_offer " + kind;
}

/// Returns the command's words for _arguments.
std::string zsh_words(const CommandInfo& program, const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : options_after(program, command)) {
    for (const std::string& name : option.names) {
      out += fmt::format(" \\\n    '{}{}[{}]", option.repeatable ? "*" : "", name,
                         zsh_text(option.help));
      if (!option.value.empty()) {
        out += fmt::format(":{}:{}", zsh_text(option.value), zsh_action(kind_of(command, option)));
      }
      out += "'";
    }
  }
  int position = 0;
  for (const ArgumentInfo& argument : command.arguments) {
    out +=
        fmt::format(" \\\n    '{}:{}:{}'", argument.repeatable ? "*" : std::to_string(++position),
                    argument.name, zsh_action(kind_of(command, argument)));
  }
  return out;
}

std::string zsh_function(const CommandInfo& program, const std::string& path,
                         const CommandInfo& command) {
  const std::string words = zsh_words(program, command);
  std::string name = path.empty() ? "_vmnuma" : "_vmnuma_" + path;
  std::ranges::replace(name, ' ', '_');
  if (command.commands.empty()) {
    return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", name, words);
  }
  std::string commands;
  std::string calls;
  for (const CommandInfo& below : command.commands) {
    commands += fmt::format("        '{}:{}'\n", below.name, zsh_text(below.help));
    calls += fmt::format("        {0}) {1}_{0} ;;\n", below.name, name);
  }
  return fmt::format(
      "{}() {{\n"
      "  local curcontext=$curcontext state state_descr line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C{} \\\n"
      "    '1:command:->command' \\\n"
      "    '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=(\n{}      )\n"
      "      _describe command commands\n"
      "      ;;\n"
      "    argument)\n"
      "      case $line[1] in\n{}      esac\n"
      "      ;;\n"
      "  esac\n"
      "}}\n\n",
      name, words, commands, calls);
}

std::string zsh_functions(const CommandInfo& program) {
  std::string out;
  each_command(program, [&](const std::string& path, const CommandInfo& command) {
    out += zsh_function(program, path, command);
  });
  return out;
}

// ---- fish ----

/// Returns what to offer for an argument; for an option's value, `-r` or `-x` precedes it.
std::string fish_values(const std::string& kind) {
  if (kind == "file") {
    return " -F";
  }
  if (const std::vector<std::string> words = words_of(kind); !words.empty()) {
    return " -a " + fish_text(fmt::format("{}", fmt::join(words, " ")));
  }
  return kind.empty() ? "" : fmt::format(" -a '(__vmnuma_values {})'", kind);
}

std::vector<std::string> fish_paths(const CommandInfo& program) {
  std::vector<std::string> paths;
  each_command(program, [&](const std::string& path, const CommandInfo& /*command*/) {
    if (!path.empty()) {
      paths.push_back(path);
    }
  });
  return paths;
}

/// Returns the options that take the next word as their value.
std::vector<std::string> options_with_values(const CommandInfo& program) {
  std::set<std::string> names;
  each_command(program, [&](const std::string& /*path*/, const CommandInfo& command) {
    for (const OptionInfo& option : command.options) {
      if (!option.value.empty() && !option.value.starts_with('[')) {
        names.insert(option.names.begin(), option.names.end());
      }
    }
  });
  return {names.begin(), names.end()};
}

std::string fish_list(std::string_view name, const std::vector<std::string>& words) {
  std::string out = fmt::format("set -g __vmnuma_{}", name);
  for (const std::string& word : words) {
    out += " \\\n    " + fish_text(word);
  }
  return out + "\n";
}

std::string fish_lines(const CommandInfo& program) {
  std::string out;
  each_command(program, [&](const std::string& path, const CommandInfo& command) {
    const std::string at = fmt::format("complete -c vmnuma -n '__vmnuma_at \"{}\"'", path);
    for (const OptionInfo& option : options_after(program, command)) {
      out += at + fish_options(option.names);
      if (!option.value.empty() && !option.value.starts_with('[')) {
        // -x means -r and no files, so fish rejects it together with -F.
        const std::string kind = kind_of(command, option);
        out += (kind == "file" ? " -r" : " -x") + fish_values(kind);
      }
      out += " -d " + fish_text(option.help) + "\n";
    }
    for (const CommandInfo& below : command.commands) {
      out += fmt::format("{} -a {} -d {}\n", at, below.name, fish_text(below.help));
    }
    std::size_t place = 0;
    for (const ArgumentInfo& argument : command.arguments) {
      const std::string values = fish_values(kind_of(command, argument));
      if (!values.empty()) {
        out += fmt::format("complete -c vmnuma -n '__vmnuma_at \"{}\" {}{}'{}\n", path, place,
                           argument.repeatable ? " or-more" : "", values);
      }
      ++place;
    }
  });
  return out;
}

}  // namespace

Result<std::string> fill_completion(std::string_view text, const CommandInfo& table) {
  const CommandInfo program = with_help_and_version(table);
  return fill_template(text, [&](std::string_view line) -> std::optional<std::string> {
    if (line == "@commands@") {
      return cases(program, names_below);
    }
    if (line == "@options@") {
      return cases(program, [&](const CommandInfo& command) {
        std::vector<std::string> names;
        for (const OptionInfo& option : options_after(program, command)) {
          names.insert(names.end(), option.names.begin(), option.names.end());
        }
        return names;
      });
    }
    if (line == "@arguments@") {
      return cases(program, argument_kinds);
    }
    if (line == "@values@") {
      return value_cases(program);
    }
    if (line == "@functions@") {
      return zsh_functions(program);
    }
    if (line == "@paths@") {
      return fish_list("paths", fish_paths(program));
    }
    if (line == "@with-values@") {
      return fish_list("with_values", options_with_values(program));
    }
    if (line == "@complete@") {
      return fish_lines(program);
    }
    return std::nullopt;
  });
}

}  // namespace vmnuma::tools
