// SPDX-License-Identifier: Apache-2.0
/// A descriptor of a process (pidfd_open(2), Linux 5.3): its number is not given to another process
/// while this one runs, and that it has ended is seen for less than reading a file costs.
#pragma once

#include <cstdint>
#include <utility>

#include "placement/base/result.h"

namespace vmnuma::migration {

class ProcessDescriptor {
 public:
  /// Of the process that has this number now. Errors: vanished (none has), io.
  [[nodiscard]] static Result<ProcessDescriptor> open(std::int64_t pid);
  ProcessDescriptor(ProcessDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ProcessDescriptor& operator=(ProcessDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ProcessDescriptor(const ProcessDescriptor&) = delete;
  ProcessDescriptor& operator=(const ProcessDescriptor&) = delete;
  ~ProcessDescriptor();

  /// False once all its threads have ended, whether or not its parent has taken notice.
  [[nodiscard]] bool runs() const;
  /// For calls that take one; stays this object's.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  explicit ProcessDescriptor(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace vmnuma::migration
