// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/process_descriptor.h"

#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vmnuma::migration {

Result<ProcessDescriptor> ProcessDescriptor::open(std::int64_t pid) {
  // glibc 2.36 declares pidfd_open() for C only.
  files::FileDescriptor fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (fd.get() < 0) {
    return tl::unexpected(
        files::system_error(errno, fmt::format("cannot get a descriptor of process {}", pid)));
  }
  return ProcessDescriptor(std::move(fd));
}

bool ProcessDescriptor::runs() const {
  pollfd events{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  return files::uninterrupted([&] { return ::poll(&events, 1, 0); }) == 0;
}

}  // namespace vmnuma::migration
