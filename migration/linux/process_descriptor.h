// SPDX-License-Identifier: Apache-2.0
/// A descriptor of a process (pidfd_open(2), Linux 5.3): its number is not given to another process
/// while this one runs, and that it has ended is seen for less than reading a file costs.
#pragma once

#include <cstdint>
#include <utility>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::migration {

class ProcessDescriptor {
 public:
  /// Of the process that has this number now. Errors: vanished (none has), io.
  [[nodiscard]] static Result<ProcessDescriptor> open(std::int64_t pid);

  /// False once all its threads have ended, whether or not its parent has taken notice.
  [[nodiscard]] bool runs() const;
  /// For calls that take one; stays this object's.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit ProcessDescriptor(files::FileDescriptor fd) : fd_(std::move(fd)) {}

  files::FileDescriptor fd_;
};

}  // namespace vmnuma::migration
