// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/messages.h"

#include <sstream>
#include <string>

#include "tools/vmnuma/text/error_json.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

int fail(const Invocation& invocation, Surroundings& surroundings, const Error& error,
         int exit_code) {
  if (invocation.json) {
    surroundings.err << error_json(error) << std::flush;
  } else {
    std::istringstream lines(error.message);
    for (std::string line; std::getline(lines, line);) {
      surroundings.err << invocation.program << ": " << printable(line) << "\n";
    }
    surroundings.err << std::flush;
  }
  return exit_code;
}

int fail(const Invocation& invocation, Surroundings& surroundings, const Refusal& refusal) {
  return fail(invocation, surroundings, refusal.error,
              refusal.by_daemon ? kExitRefused : kExitUnreachable);
}

int print(const Invocation& invocation, Surroundings& surroundings, const std::string& text) {
  surroundings.out << text << std::flush;
  return surroundings.out
             ? kExitOk
             : fail(invocation, surroundings,
                    {ErrorCode::kIo, 0, "cannot write to standard output"}, kExitRefused);
}

}  // namespace vmnuma::tools
