// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <syslog.h>
#include <unistd.h>

#include "stats/text/printable.h"
#include "tools/hook/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  ::openlog("vmnuma-hook", LOG_PID, LOG_DAEMON);
  const auto report = [](const std::string& sentence) {
    std::cerr << "vmnuma-hook: " << vmnuma::text::printable(sentence) << "\n";
    ::syslog(LOG_NOTICE, "%s", sentence.c_str());
  };
  return vmnuma::tools::run_hook(arguments, {STDIN_FILENO, std::cout, "/", report,
                                             vmnuma::tools::kHookLimit, std::time(nullptr)});
}
