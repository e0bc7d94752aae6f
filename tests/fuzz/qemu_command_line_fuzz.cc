// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a command line of QEMU, and as a file of its -readconfig: a description that keeps
/// its promises, never a crash.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/described_vm.h"
#include "placement/base/result.h"

namespace {

using vmnuma::balancer::qemu::CommandLine;
using vmnuma::balancer::qemu::DescribedVm;

template <class T>
bool is_strictly_ascending(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(),
                            [](const T& a, const T& b) { return !(a < b); }) == values.end();
}

/// An option and its value a line, as in the fixtures.
std::string cmdline_of(std::string_view text) {
  std::string cmdline;
  bool is_value = false;
  for (const char character : text) {
    const bool ends = character == '\n' || (character == ' ' && !is_value);
    is_value = character != '\n' && (is_value || character == ' ');
    cmdline += ends ? '\0' : character;
  }
  return cmdline;
}

void check(const CommandLine& line) {
  const DescribedVm described =
      describe(line, {{{"/dev/hugepages", vmnuma::placement::kMiB * 2}}, vmnuma::placement::kGiB});
  const vmnuma::placement::VmDescription& vm = described.description;
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
  VMNUMA_CHECK(vm.io_threads.size() == described.io_thread_names.size());
  VMNUMA_CHECK(is_strictly_ascending(vm.numatune_nodes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(vmnuma::balancer::qemu::parse_command_line(cmdline_of(text)));
  CommandLine line;
  add_config_file(text, "qemu.conf", line);
  check(line);
  return 0;
}
