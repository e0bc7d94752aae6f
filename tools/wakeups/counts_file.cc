// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/counts_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/linux/file_descriptor.h"

namespace vmnuma::tools {

using stats::uninterrupted;

Result<void> write_counts_file(const std::string& path, std::string_view text) {
  constexpr mode_t kMode = 0644;  // the daemon is another user
  const std::string beside = path + ".new";
  const auto failed = [&](const char* what, const std::string& object) {
    return tl::unexpected(
        stats::system_error(errno, std::string("cannot ") + what + " '" + object + "'"));
  };
  const stats::FileDescriptor file(uninterrupted([&] {
    return ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kMode);
  }));
  if (file.get() < 0) {
    return failed("make", beside);
  }
  while (!text.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(file.get(), text.data(), text.size()); });
    if (written < 0) {
      return failed("write", beside);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    return failed("replace", path);
  }
  return {};
}

Result<void> remove_counts_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return tl::unexpected(stats::system_error(errno, "cannot remove '" + path + "'"));
  }
  return {};
}

}  // namespace vmnuma::tools
