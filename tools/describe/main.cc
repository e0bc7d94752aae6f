// SPDX-License-Identifier: Apache-2.0
// Used by the build only: what the tables of settings say, as the example configuration or as a
// manual page.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "balancer/config/config.h"
#include "tools/describe/settings_scdoc.h"

namespace {

int usage() {
  std::cerr << "Usage: vmnuma-describe example | vmnuma-describe page TEMPLATE\n";
  return 2;
}

int page(const char* path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.empty()) {
    std::cerr << "vmnuma-describe: cannot read '" << path << "'\n";
    return 1;
  }
  const auto filled = vmnuma::tools::fill_page(text);
  if (!filled) {
    std::cerr << "vmnuma-describe: '" << path << "': " << filled.error().message << "\n";
    return 1;
  }
  std::cout << *filled << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "example" && argc == 2) {
    std::cout << vmnuma::balancer::example_config() << std::flush;
    return std::cout ? 0 : 1;
  }
  return what == "page" && argc == 3 ? page(argv[2]) : usage();
}
