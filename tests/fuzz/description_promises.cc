// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/description_promises.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::fuzz {
namespace {

template <class T>
bool is_strictly_ascending(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(),
                            [](const T& a, const T& b) { return !(a < b); }) == values.end();
}

}  // namespace

void check_promises(const VmDescription& vm) {
  VMNUMA_CHECK(is_strictly_ascending(vm.vcpus));
  VMNUMA_CHECK(vm.max_vcpus >= 1);
  VMNUMA_CHECK(!vm.vcpus.empty() && vm.vcpus.front() == 0 && vm.vcpus.back() < vm.max_vcpus);
  VMNUMA_CHECK(vm.memory.value >= 0 && vm.max_memory.value >= 0);
  std::set<std::int32_t> taken;
  for (const auto& cell : vm.cells) {
    VMNUMA_CHECK(is_strictly_ascending(cell.vcpus) && cell.memory.value >= 0);
    for (const std::int32_t vcpu : cell.vcpus) {
      VMNUMA_CHECK(vcpu < vm.max_vcpus && taken.insert(vcpu).second);
    }
  }
  VMNUMA_CHECK(is_strictly_ascending(vm.io_threads));
  VMNUMA_CHECK(is_strictly_ascending(vm.numatune_nodes));
}

}  // namespace vmnuma::fuzz
