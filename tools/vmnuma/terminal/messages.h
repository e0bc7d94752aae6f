// SPDX-License-Identifier: Apache-2.0
/// Ends a command: with its text on standard output, or with one message on standard error.
#pragma once

#include <string>

#include "placement/base/result.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Writes the message to standard error, with --json as error_json(). Some messages, such as those
/// about a file, have several lines. Returns `exit_code`.
int fail(const Invocation& invocation, Surroundings& surroundings, const Error& error,
         int exit_code);
/// Likewise; the exit code shows whether the daemon refused or could not be asked.
int fail(const Invocation& invocation, Surroundings& surroundings, const Refusal& refusal);

/// Prints the output. Returns the exit code, which is kExitRefused, after a message, if the output
/// cannot be written.
int print(const Invocation& invocation, Surroundings& surroundings, const std::string& text);

}  // namespace vmnuma::tools
