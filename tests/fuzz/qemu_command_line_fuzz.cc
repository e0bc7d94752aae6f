// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a command line of QEMU, and as a file of its -readconfig: a description that keeps
/// its promises, never a crash.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "balancer/qemu/described_vm.h"
#include "placement/base/result.h"
#include "tests/fuzz/description_promises.h"

namespace {

using vmnuma::balancer::qemu::CommandLine;
using vmnuma::balancer::qemu::DescribedVm;

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
      describe(line, {{{"/dev/hugepages", vmnuma::kMiB * 2}}, vmnuma::kGiB});
  vmnuma::fuzz::check_promises(described.description);
  VMNUMA_CHECK(described.description.io_threads.size() == described.io_thread_names.size());
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
