// SPDX-License-Identifier: Apache-2.0
/// Reading small files of /proc and /sys below an injected root.
///
/// A Folder is a descriptor. One of /proc/PID stays with that process even if the number is used
/// again, so everything read through it belongs to the same process. Properties: signals interrupt
/// nothing, no descriptor survives an exec, no read is unbounded, every error names the path.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::migration {

/// Errors of all: not-found, vanished (the process or device behind it is gone), permission-denied,
/// io; of reads also invalid-argument (not a regular file) and corrupt (more than 64 MiB).
class Folder {
 public:
  [[nodiscard]] static Result<Folder> open(const std::string& path);
  Folder(Folder&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  Folder& operator=(Folder&& other) noexcept {
    std::swap(fd_, other.fd_);
    path_.swap(other.path_);
    return *this;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  /// `relative` has no leading '/'.
  [[nodiscard]] Result<Folder> folder(const std::string& relative) const;
  [[nodiscard]] Result<std::string> read(const std::string& relative) const;
  /// The names in it, sorted, without "." and "..".
  [[nodiscard]] Result<std::vector<std::string>> names() const;

 private:
  Folder(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  [[nodiscard]] Result<int> open_folder(const std::string& relative) const;

  int fd_;
  std::string path_;
};

/// The Error of a failed call: "cannot read '/proc/7/stat': No such process".
[[nodiscard]] Error system_error(int errno_value, std::string_view attempt);

}  // namespace vmnuma::migration
