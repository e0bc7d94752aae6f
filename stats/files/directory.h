// SPDX-License-Identifier: Apache-2.0
/// Kernel files below an injected root.
///
/// Problem: the kernel describes a host in small files of /proc and /sys. They come and go with the
/// things they describe, a path may mean another process a moment later, and tests need hosts that
/// do not exist. Approach: no absolute path is opened. A Directory is a descriptor; its contents
/// are opened relative to it. The root is passed in ("/" on a live host). A descriptor of /proc/PID
/// stays with that process even if the pid is reused, so everything opened through it belongs to
/// the same process. A KeptFile is reread from its start without being reopened, which for a
/// thread's schedstat takes a quarter of the time.
///
/// Properties:
///  - reading a process or thread that ended gives the error `vanished` or `not-found`, never
///    another one's numbers;
///  - signals do not interrupt a call;
///  - no descriptor survives an exec;
///  - every read has a size limit;
///  - only regular files are read (open.h);
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

  /// Reads the whole current contents. The view points into `scratch`, which grows as needed and
  /// should be shared by all reads of one thread. Errors: vanished (the thread or cgroup is gone),
  /// io, corrupt (too large).
  [[nodiscard]] Result<std::string_view> read(std::string& scratch) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  FileDescriptor fd_;
  std::string path_;
};

/// A directory, held open by its descriptor. Relative paths have no leading '/'.
class Directory {
 public:
  /// Opens a root, from which all other directories are opened. Errors: not-found,
  /// permission-denied, io.
  [[nodiscard]] static Result<Directory> open(const std::string& path);

  /// Errors of these three functions: not-found, vanished, permission-denied, io; file() and read()
  /// also return invalid-argument (not a regular file), read() also corrupt (larger than
  /// kMostBytesOfAFile).
  [[nodiscard]] Result<Directory> directory(std::string_view relative) const;
  [[nodiscard]] Result<KeptFile> file(std::string_view relative) const;
  [[nodiscard]] Result<std::string> read(std::string_view relative) const;

  /// Returns the names in this directory without "." and "..", sorted by their bytes.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  /// Returns the number of subdirectories plus a constant. /proc, /sys, cgroup2, ext4 and tmpfs
  /// maintain this count, so a thread (/proc/PID/task) or a cgroup that came or went is noticed
  /// without listing the directory.
  [[nodiscard]] Result<std::uint64_t> link_count() const;

  /// Returns a number that identifies an entry of this directory as long as it exists. In /proc a
  /// later process with the same pid gets another number (get_next_ino, fs/inode.c, Linux 6.1), so
  /// it tells the two apart at less cost than reading a file. Errors: not-found, vanished, io.
  [[nodiscard]] Result<std::uint64_t> inode_of(std::string_view relative) const;

  /// Returns the root's path joined with the relative path from there; for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view relative) const;

 private:
  Directory(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  FileDescriptor fd_;
  std::string path_;
};

}  // namespace vmnuma::files
