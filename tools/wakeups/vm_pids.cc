// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/vm_pids.h"

#include <limits>

#include "stats/files/directory.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/proc_formats.h"

namespace vmnuma::tools {

Result<std::set<std::uint32_t>> read_vm_pids(const std::string& directory) {
  const auto opened = files::Directory::open(directory);
  if (!opened) {
    return opened.error().code == ErrorCode::kNotFound ? Result<std::set<std::uint32_t>>()
                                                       : tl::unexpected(opened.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto names, opened->names());
  std::set<std::uint32_t> pids;
  for (const std::string& name : names) {
    // driver.pid is libvirt's own lock on the directory (libvirt 9.0, src/qemu/qemu_driver.c).
    if (!name.ends_with(".pid") || name == "driver.pid") {
      continue;
    }
    const auto pid = read_parsed(*opened, name, stats::parse_pid_file);
    if (pid && *pid <= std::numeric_limits<std::int32_t>::max()) {
      pids.insert(static_cast<std::uint32_t>(*pid));
    }
  }
  return pids;
}

}  // namespace vmnuma::tools
