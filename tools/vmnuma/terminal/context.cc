// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/context.h"

#include <istream>
#include <ostream>

#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/text/error_json.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

OrFailure<std::string> Context::ask_text(const balancer::Command& command) const {
  return tools::ask(invocation.socket_path, command, surroundings.time_limit);
}

int Context::print(const std::string& text) const {
  surroundings.out << text << std::flush;
  if (!surroundings.out) {
    complain({ErrorCode::kIo, 0, "cannot write to standard output"});
    return kExitRefused;
  }
  return kExitOk;
}

int Context::print(const nlohmann::ordered_json& json, const std::string& text) const {
  return print(invocation.json ? text::json_text(json) + "\n" : text);
}

void Context::say(const std::string& sentence) const {
  if (!invocation.json) {
    surroundings.out << wrapped(sentence, /*indent=*/0) << std::flush;
  }
}

void Context::complain(const Error& error) const {
  surroundings.err << (invocation.json ? error_json(error)
                                       : printable_lines(error.message, invocation.program + ": "))
                   << std::flush;
}

bool Context::may_do(const std::string& what, const std::string& question, bool yes) const {
  (invocation.json ? surroundings.err : surroundings.out) << what << std::flush;
  if (yes) {
    return true;
  }
  surroundings.err << printable(question) << " [y/N] " << std::flush;
  std::string answer;
  if (surroundings.in != nullptr) {
    std::getline(*surroundings.in, answer);
  }
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace vmnuma::tools
