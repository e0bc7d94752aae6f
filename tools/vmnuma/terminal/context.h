// SPDX-License-Identifier: Apache-2.0
/// What every command needs to be carried out: the command line and the environment, and with them
/// the daemon and the user.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "balancer/protocol/response.h"
#include "placement/base/result.h"
#include "tools/vmnuma/arguments/failure.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Reads an answer of the daemon. Failure: answer_failure().
template <class View>
[[nodiscard]] OrFailure<View> read_view(const std::string& answer) {
  return balancer::decode_view<View>(answer).map_error(answer_failure);
}

struct Context {
  const Invocation& invocation;
  Surroundings& surroundings;

  /// Asks the daemon and returns the result's JSON text. The exit code of a failure shows whether
  /// the daemon refused or could not be asked.
  [[nodiscard]] OrFailure<std::string> ask_text(const balancer::Command& command) const;
  /// Likewise, and reads the view.
  template <class Request>
  [[nodiscard]] OrFailure<typename Request::View> ask(const Request& request) const {
    return ask_text(request).and_then(read_view<typename Request::View>);
  }

  /// Prints the output. Returns the exit code, which is kExitRefused, after a message, if the
  /// output cannot be written.
  [[nodiscard]] int print(const std::string& text) const;
  /// Likewise; with --json the JSON on one line instead of the text.
  [[nodiscard]] int print(const nlohmann::ordered_json& json, const std::string& text) const;

  /// Prints a sentence, if there is one, while the command runs. Nothing with --json.
  void say(const std::string& sentence) const;

  /// Writes the message to standard error, with --json as error_json(). Some messages, such as
  /// those about a file, have several lines.
  void complain(const Error& error) const;

  /// Shows what is to be done, with --json on standard error, and unless `yes` asks whether to do
  /// it: writes the question to standard error, printable() and followed by " [y/N] ", and waits
  /// for a line. Returns true for y, Y and yes; anything else, or no standard input, means no.
  [[nodiscard]] bool may_do(const std::string& what, const std::string& question, bool yes) const;
};

/// Returns whether the daemon's host is simulated or recorded: this host's files then say nothing
/// about it.
[[nodiscard]] inline bool is_about_another_host(const balancer::StatusView& status) {
  return status.uri.starts_with(balancer::kSimulatedUri) ||
         status.uri.starts_with(balancer::kRecordedUri);
}

}  // namespace vmnuma::tools
