// SPDX-License-Identifier: Apache-2.0
#include "tools/client/process_limits.h"

#include <cerrno>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "placement/base/number.h"
#include "stats/files/file.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {

namespace {

/// Returns the address space of this process in bytes, from the first field of /proc/self/statm
/// (proc(5)), which is in pages.
std::int64_t address_space() {
  constexpr std::size_t kMostText = 4096;
  const std::string text = files::read_file("/proc/self/statm", kMostText).value_or("");
  return whole_number<std::int64_t>(text.substr(0, text.find(' '))).value_or(0) *
         ::sysconf(_SC_PAGESIZE);
}

bool set_limit(decltype(RLIMIT_AS) resource, std::int64_t most) {
  const auto value = static_cast<rlim_t>(most);
  const rlimit limit{value, value};
  return ::setrlimit(resource, &limit) == 0;
}

}  // namespace

Result<void> limit_this_process(const ProcessLimits& limits) {
  if (!set_limit(RLIMIT_AS, address_space() + limits.memory_bytes) || !set_limit(RLIMIT_CORE, 0) ||
      (limits.cpu_time && !set_limit(RLIMIT_CPU, limits.cpu_time->count()))) {
    return tl::unexpected(files::system_error(errno, "cannot limit what this process may use"));
  }
  return {};
}

}  // namespace vmnuma::tools
