// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tools/sim/scenario/catalogue.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/arguments/sched_stats.h"
#include "tools/vmnuma/run.h"
#include "tools/vmnuma/terminal/follower_pause.h"
#include "tools/vmnuma/top/curses_terminal.h"

namespace {

using vmnuma::tools::EarlyExit;
using vmnuma::tools::Invocation;

/// Reads the command line; the program has two names.
tl::expected<Invocation, EarlyExit> read_command_line(std::string_view called_as,
                                                      const std::vector<std::string>& arguments) {
  if (called_as.substr(called_as.rfind('/') + 1) == "sched-stats") {  // npos + 1 is 0
    return vmnuma::tools::parse_sched_stats_arguments(arguments);
  }
  const auto now = std::chrono::system_clock::now();
  return vmnuma::tools::parse_arguments(arguments, std::chrono::system_clock::to_time_t(now));
}

/// Returns whether output may be coloured. NO_COLOR is as defined by https://no-color.org: any
/// non-empty value counts.
bool wants_colours() {
  const char* unwanted = std::getenv("NO_COLOR");
  return unwanted == nullptr || *unwanted == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto invocation = read_command_line(argc > 0 ? argv[0] : "", arguments);
  if (!invocation) {
    const EarlyExit& exit = invocation.error();
    (exit.code == vmnuma::tools::kExitOk ? std::cout : std::cerr) << exit.text << std::flush;
    if (!std::cout) {
      std::cerr << "vmnuma: cannot write to standard output\n";
      return vmnuma::tools::kExitRefused;
    }
    return exit.code;
  }
  vmnuma::tools::Surroundings surroundings{std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1,
                                           [](std::chrono::milliseconds time) {
                                             std::this_thread::sleep_for(time);
                                             return true;  // a signal ends the program
                                           }};
  if (const auto* exported = std::get_if<vmnuma::tools::ExportRun>(&invocation->command);
      exported != nullptr && exported->follow) {
    surroundings.pause = vmnuma::tools::follower_pause(STDOUT_FILENO);
  }
  surroundings.in = &std::cin;
  surroundings.scenarios = vmnuma::tools::scenario_directory();
  surroundings.colours = surroundings.out_is_terminal && wants_colours();
  surroundings.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  surroundings.err_colours = surroundings.err_is_terminal && wants_colours();
  if (::isatty(STDIN_FILENO) == 1 && surroundings.out_is_terminal) {
    surroundings.open_terminal = [colours = surroundings.colours] {
      return vmnuma::tools::open_terminal(colours);
    };
  }
  return run(*invocation, surroundings);
}
