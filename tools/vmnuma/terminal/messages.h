// SPDX-License-Identifier: Apache-2.0
/// The end of a command: with its text on standard output, or with one message on standard error.
#pragma once

#include <string>

#include "placement/base/result.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Writes the message to standard error; some, such as those about a file, have several lines. With
/// --json it is error_json(). Returns `exit_code`.
int fail(const Invocation& invocation, Surroundings& surroundings, const Error& error,
         int exit_code);
/// Likewise; the code says whether the daemon refused or could not be asked.
int fail(const Invocation& invocation, Surroundings& surroundings, const Refusal& refusal);

/// Prints the output. Returns the exit code: kExitRefused, with a message, if it cannot be written.
int print(const Invocation& invocation, Surroundings& surroundings, const std::string& text);

}  // namespace vmnuma::tools
