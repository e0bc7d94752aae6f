// SPDX-License-Identifier: Apache-2.0
/// An open file descriptor that closes itself, and two rules that every system call in this folder
/// follows.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "placement/base/result.h"

namespace vmnuma::files {

/// Owns a descriptor; move-only.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Repeats `call` while a signal interrupts it; returns its last result.
template <class Call>
[[nodiscard]] auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// Writes all of `bytes`; returns false, with errno set, if that is not possible.
[[nodiscard]] bool write_all(int fd, std::string_view bytes);

/// Maps an errno value: ENOENT and ENOTDIR are not-found; ESRCH (a thread that exited) and ENODEV
/// (a removed cgroup or node) vanished; EACCES, EPERM and EROFS permission-denied; ENOSPC and
/// EDQUOT no-space; EEXIST invalid-argument; everything else, including a full descriptor table,
/// io.
[[nodiscard]] ErrorCode code_of_errno(int errno_value);

/// Returns the error of a system call that just failed: "cannot open '/proc/stat': No such file or
/// directory".
[[nodiscard]] Error system_error(int errno_value, std::string attempt);

}  // namespace vmnuma::files
