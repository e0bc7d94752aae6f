// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tools/numad/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Microseconds, so that consecutive calls differ; the pid distinguishes simultaneous ones.
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
  const auto turn = static_cast<std::uint64_t>(now.count() + ::getpid());
  return vmnuma::tools::run_numad(arguments,
                                  {std::cout, std::cerr, "/", turn, vmnuma::tools::kDaemonLimit});
}
