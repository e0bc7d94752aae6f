// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recorded_loads.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace vmnuma::tests {
namespace {

LoadFamily family_of(const std::string& name) {
  const auto family = value_named<LoadFamily>(std::string_view(name).substr(0, name.size() - 1));
  if (!family) {
    throw std::runtime_error("'" + name + "' is of no family");
  }
  return *family;
}

}  // namespace

std::vector<GeneratedVm> recorded_loads(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<GeneratedVm> vms;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    GeneratedVm vm;
    words >> vm.facts.name >> vm.facts.vcpus >> vm.facts.memory_mib >> vm.facts.shares >>
        vm.facts.guest_os;
    for (std::int64_t load = 0; words >> load;) {
      vm.load.push_back(Permille{std::clamp<std::int64_t>(load, 0, 1000)});
    }
    vm.family = family_of(vm.facts.name);
    vm.first_minute = kFirstGeneratedMinute;
    vms.push_back(std::move(vm));
  }
  if (vms.empty()) {
    throw std::runtime_error("'" + path.string() + "' has no loads");
  }
  return vms;
}

}  // namespace vmnuma::tests
