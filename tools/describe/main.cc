// SPDX-License-Identifier: Apache-2.0
// Used by the build only: prints the tables of settings and commands as the example configuration,
// as a manual page or as a shell's completion.
#include <functional>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "stats/files/file.h"
#include "tools/describe/completions.h"
#include "tools/describe/manual_page.h"
#include "tools/describe/program_completion.h"

namespace {

using vmnuma::Result;

int usage() {
  std::cerr << "Usage: vmnuma-describe example | vmnuma-describe page TEMPLATE |\n"
               "       vmnuma-describe completion TEMPLATE |\n"
               "       vmnuma-describe program SHELL PROGRAM HELP\n";
  return 2;
}

int print(const std::string& text) {
  std::cout << text << std::flush;
  return std::cout ? 0 : 1;
}

/// Prints the result of `fill` for the contents of the file.
int fill_file(const char* path,
              const std::function<Result<std::string>(std::string_view text)>& fill) {
  constexpr std::size_t kMostText = std::size_t{1024} * 1024;
  const auto text = vmnuma::files::read_file(path, kMostText);
  if (!text || text->empty()) {
    std::cerr << "vmnuma-describe: "
              << (text ? fmt::format("'{}' is empty", path) : text.error().message) << "\n";
    return 1;
  }
  const auto filled = fill(*text);
  if (!filled) {
    std::cerr << "vmnuma-describe: '" << path << "': " << filled.error().message << "\n";
    return 1;
  }
  return print(*filled);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "example" && argc == 2) {
    return print(vmnuma::balancer::example_config());
  }
  if (what == "page" && argc == 3) {
    return fill_file(argv[2], vmnuma::tools::fill_page);
  }
  if (what == "completion" && argc == 3) {
    return fill_file(argv[2], [](std::string_view text) {
      return vmnuma::tools::fill_completion(text, vmnuma::tools::command_table());
    });
  }
  if (what == "program" && argc == 5) {
    return fill_file(argv[4], [&](std::string_view help) {
      return vmnuma::tools::program_completion(argv[2], argv[3], help);
    });
  }
  return usage();
}
