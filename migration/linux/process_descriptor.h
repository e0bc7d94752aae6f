// SPDX-License-Identifier: Apache-2.0
/// A process descriptor (pidfd_open(2), Linux 5.3). While the process runs its pid is not reused,
/// and checking whether it runs costs less than reading a file.
#pragma once

#include <cstdint>
#include <utility>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::migration {

class ProcessDescriptor {
 public:
  /// Opens a descriptor of the process that currently has this pid. Errors: vanished (there is
  /// none), io.
  [[nodiscard]] static Result<ProcessDescriptor> open(std::int64_t pid);

  /// False once all its threads have ended, whether or not its parent has reaped it.
  [[nodiscard]] bool runs() const;
  /// For calls that need a file descriptor; remains owned by this object.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit ProcessDescriptor(files::FileDescriptor fd) : fd_(std::move(fd)) {}

  files::FileDescriptor fd_;
};

}  // namespace vmnuma::migration
