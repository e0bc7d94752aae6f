// SPDX-License-Identifier: Apache-2.0
/// Kernel files below an injected root.
///
/// Problem: the kernel describes a host in small files of /proc and /sys. They come and go with the
/// things they describe, a path may mean another process a moment later, and tests need hosts that
/// do not exist. Approach: nothing here opens an absolute path. A Directory is a descriptor; its
/// contents are opened relative to it. The root is passed in ("/" on a live host). A descriptor of
/// /proc/PID stays with that process even if the pid is reused, so everything opened through it
/// belongs to the same process. A KeptFile is reread from its start without reopening, which for a
/// thread's schedstat costs a quarter of opening it each time.
///
/// Properties:
///  - a process or thread that ended is an Error `vanished` or `not-found`, never the numbers of
///    another;
///  - signals interrupt nothing;
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

/// Limit for reading one file. numa_maps of a VM with 100,000 mappings is about 10 MiB.
inline constexpr std::size_t kMostBytesOfAFile = std::size_t{64} * 1024 * 1024;

/// A file that is reread from its start many times. Not for files that the kernel delivers in
/// pieces (numa_maps, cmdline): use Directory::read for those.
class KeptFile {
 public:
  KeptFile(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  /// The whole contents, as of now. The view points into `scratch`, which grows as needed and is
  /// should be shared by all reads of one thread. Errors: vanished (the thread or cgroup is gone),
  /// io, corrupt (too large).
  [[nodiscard]] Result<std::string_view> read(std::string& scratch) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  FileDescriptor fd_;
  std::string path_;
};

/// A directory, held by descriptor. Relative paths have no leading '/'.
class Directory {
 public:
  /// Opens the root of all other directories. Errors: not-found, permission-denied, io.
  [[nodiscard]] static Result<Directory> open(const std::string& path);

  /// Errors of these three: not-found, vanished, permission-denied, io; of file() and read() also
  /// invalid-argument (not a regular file); of read() also corrupt (larger than kMostBytesOfAFile).
  [[nodiscard]] Result<Directory> directory(std::string_view relative) const;
  [[nodiscard]] Result<KeptFile> file(std::string_view relative) const;
  [[nodiscard]] Result<std::string> read(std::string_view relative) const;

  /// The names in this directory without "." and "..", sorted by their bytes.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  /// Number of sub-directories plus a constant. /proc, /sys, cgroup2, ext4 and tmpfs maintain this
  /// count, so a change shows, without listing, that a thread (/proc/PID/task) or a cgroup came or
  /// went.
  [[nodiscard]] Result<std::uint64_t> link_count() const;

  /// A number that an entry of this directory keeps as long as it exists. In /proc no later process
  /// with the same pid gets it (get_next_ino, fs/inode.c, Linux 6.1), so it distinguishes them at
  /// less cost than reading a file. Errors: not-found, vanished, io.
  [[nodiscard]] Result<std::uint64_t> inode_of(std::string_view relative) const;

  /// For messages: the root's path and the relative path from there.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view relative) const;

 private:
  Directory(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  [[nodiscard]] Result<FileDescriptor> open_file(std::string_view relative) const;

  FileDescriptor fd_;
  std::string path_;
};

}  // namespace vmnuma::files
