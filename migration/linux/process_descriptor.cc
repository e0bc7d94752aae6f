// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/process_descriptor.h"

#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "migration/linux/kernel_file.h"

namespace vmnuma::migration {

Result<ProcessDescriptor> ProcessDescriptor::open(std::int64_t pid) {
  // glibc 2.36 declares pidfd_open() for C only.
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  if (fd < 0) {
    return tl::unexpected(
        system_error(errno, fmt::format("cannot get a descriptor of process {}", pid)));
  }
  return ProcessDescriptor(fd);
}

ProcessDescriptor::~ProcessDescriptor() {
  if (fd_ >= 0) {
    (void)::close(fd_);  // nothing was written
  }
}

bool ProcessDescriptor::runs() const {
  pollfd events{.fd = fd_, .events = POLLIN, .revents = 0};
  int ready = ::poll(&events, 1, 0);
  while (ready < 0 && errno == EINTR) {
    ready = ::poll(&events, 1, 0);
  }
  return ready == 0;
}

}  // namespace vmnuma::migration
