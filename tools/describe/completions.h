// SPDX-License-Identifier: Apache-2.0
/// Shell completions of `vmnuma`, made from its own table of commands.
///
/// A completion is a template (tools/completions) in which lines such as "@commands@" are replaced
/// by text made from the table, so that the completion cannot disagree with the program.
///
/// Terms: a word's kind states what the word may be: a file, or a value that a command lists, such
/// as the host's VMs. It follows from the word's name in the help (VM, NODE, FILE, ...).
/// Properties, tested with the shell:
///  - every command and option of the table is offered where it is valid, and nothing else;
///  - the names of VMs come from the daemon; without a daemon there are none.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "tools/vmnuma/arguments/command_table.h"

namespace vmnuma::tools {

/// Fills in the "@...@" lines of the template: @commands@, @options@, @arguments@ and @values@ for
/// bash, @functions@ for zsh, @paths@, @with-values@ and @complete@ for fish. Error:
/// invalid-argument for any other such line.
[[nodiscard]] Result<std::string> fill_completion(std::string_view text,
                                                  const CommandInfo& program);

}  // namespace vmnuma::tools
