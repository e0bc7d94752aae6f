// SPDX-License-Identifier: Apache-2.0
/// Any bytes as domain XML: an error or a description that keeps its promises, never a crash.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "balancer/host/domain_xml.h"
#include "placement/base/result.h"

namespace {

using vmnuma::Pin;

template <class T>
bool is_strictly_ascending(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(),
                            [](const T& a, const T& b) { return !(a < b); }) == values.end();
}

void check(const std::vector<Pin>& pins) {
  VMNUMA_CHECK(std::adjacent_find(pins.begin(), pins.end(), [](const Pin& a, const Pin& b) {
                 return a.number >= b.number;
               }) == pins.end());
  for (const Pin& pin : pins) {
    VMNUMA_CHECK(is_strictly_ascending(pin.cpus));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto vm = vmnuma::balancer::parse_domain_xml(xml, vmnuma::kMiB * 2);
  if (!vm) {
    VMNUMA_CHECK(vm.error().code == vmnuma::ErrorCode::kInvalidArgument);
    VMNUMA_CHECK(!vm.error().message.empty() && vm.error().message.size() < 1000);
    return 0;
  }
  VMNUMA_CHECK(!vm->name.empty());
  VMNUMA_CHECK(is_strictly_ascending(vm->vcpus));
  VMNUMA_CHECK(vm->max_vcpus >= 1);
  VMNUMA_CHECK(vm->vcpus.empty() || (vm->vcpus.front() >= 0 && vm->vcpus.back() < vm->max_vcpus));
  VMNUMA_CHECK(vm->memory.value >= 0 && vm->max_memory.value >= 0);
  for (const auto& cell : vm->cells) {
    VMNUMA_CHECK(is_strictly_ascending(cell.vcpus) && cell.memory.value >= 0);
    VMNUMA_CHECK(!cell.binding || is_strictly_ascending(cell.binding->nodes));
  }
  VMNUMA_CHECK(is_strictly_ascending(vm->io_threads));
  VMNUMA_CHECK(is_strictly_ascending(vm->numatune_nodes));
  VMNUMA_CHECK(is_strictly_ascending(vm->emulator_pin));
  check(vm->vcpu_pins);
  check(vm->io_thread_pins);
  return 0;
}
