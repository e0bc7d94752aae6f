// SPDX-License-Identifier: Apache-2.0
/// Kernel files below an injected root.
///
/// Problem: everything about a host is told in small files of /proc and /sys. They come and go with
/// the things they describe, a path may mean another process a moment later, and tests need hosts
/// that do not exist. Approach: nothing here opens an absolute path. A Directory is a descriptor;
/// what lies in it is opened relative to it. The root is handed in ("/" on a live host). A
/// descriptor of /proc/PID stays with that process even if its number is used again, so whatever is
/// opened through it belongs to the same process. A KeptFile is read again and again from its start
/// without opening it again, which for a thread's schedstat costs a quarter of opening it each
/// time.
///
/// Properties:
///  - a process or thread that ended is an Error `vanished` or `not-found`, never the numbers of
///    another;
///  - a signal interrupts nothing;
///  - no descriptor survives an exec;
///  - no read is unbounded;
///  - nothing but regular files is read (open.h);
///  - every error names the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::files {

/// The most that is read of one file. numa_maps of a VM with 100,000 mappings is about 10 MiB.
inline constexpr std::size_t kMostBytesOfAFile = std::size_t{64} * 1024 * 1024;

/// A file that is read from its start again and again. Not for files that the kernel delivers in
/// pieces (numa_maps, cmdline): use Directory::read for those.
class KeptFile {
 public:
  KeptFile(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  /// The whole contents, as of now. The view points into `scratch`, which grows as needed and is
  /// best shared by all reads of one thread. Errors: vanished (the thread or cgroup is gone), io,
  /// corrupt (too large).
  [[nodiscard]] Result<std::string_view> read(std::string& scratch) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  FileDescriptor fd_;
  std::string path_;
};

/// A directory, held by descriptor. Relative paths have no leading '/'.
class Directory {
 public:
  /// The root of all others. Errors: not-found, permission-denied, io.
  [[nodiscard]] static Result<Directory> open(const std::string& path);

  /// Errors of the three: not-found, vanished, permission-denied, io; of file() and read() also
  /// invalid-argument (not a regular file); of read() also corrupt (larger than
  /// kMostBytesOfAFile).
  [[nodiscard]] Result<Directory> directory(std::string_view relative) const;
  [[nodiscard]] Result<KeptFile> file(std::string_view relative) const;
  [[nodiscard]] Result<std::string> read(std::string_view relative) const;

  /// The names in this directory without "." and "..", sorted by their bytes.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  /// Number of sub-directories plus a constant. /proc, /sys, cgroup2, ext4 and tmpfs keep this
  /// count, so a change tells that a thread (/proc/PID/task) or a cgroup came or went without
  /// listing them.
  [[nodiscard]] Result<std::uint64_t> link_count() const;

  /// A number that an entry of this directory has as long as it exists. In /proc no later process
  /// of the same number has it (get_next_ino, fs/inode.c, Linux 6.1), so it tells them apart for
  /// less than reading a file costs. Errors: not-found, vanished, io.
  [[nodiscard]] Result<std::uint64_t> inode_of(std::string_view relative) const;

  /// For messages: the root's path and the way from there.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view relative) const;

 private:
  Directory(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  [[nodiscard]] Result<FileDescriptor> open_file(std::string_view relative) const;

  FileDescriptor fd_;
  std::string path_;
};

}  // namespace vmnuma::files
