// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>
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
  // The script that runs it sends this signal after a second, in case that it hangs.
  const auto pause = [](std::chrono::milliseconds time) {
    (void)std::signal(SIGUSR1, SIG_IGN);
    std::this_thread::sleep_for(time);
  };
  return vmnuma::tools::run_hook(arguments,
                                 {STDIN_FILENO, std::cout, "/", report, vmnuma::tools::kHookLimit,
                                  std::time(nullptr), pause, std::chrono::steady_clock::now});
}
