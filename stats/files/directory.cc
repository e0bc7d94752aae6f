// SPDX-License-Identifier: Apache-2.0
#include "stats/files/directory.h"

#include <algorithm>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/files/open.h"

namespace vmnuma::files {
namespace {

constexpr std::size_t kFirstBufferBytes = 4096;

std::string quote(const std::string& path) {
  return "'" + path + "'";
}

struct CloseDirectoryStream {
  void operator()(DIR* stream) const {
    (void)::closedir(stream);  // only read from, so nothing can be lost
  }
};

}  // namespace

Result<std::string_view> KeptFile::read(std::string& scratch) const {
  if (scratch.size() < kFirstBufferBytes) {
    scratch.resize(kFirstBufferBytes);
  }
  for (;;) {
    const ssize_t count =
        uninterrupted([&] { return ::pread(fd_.get(), scratch.data(), scratch.size(), 0); });
    if (count < 0) {
      return tl::unexpected(system_error(errno, "cannot read " + quote(path_)));
    }
    const auto bytes = static_cast<std::size_t>(count);
    if (bytes < scratch.size()) {
      return std::string_view(scratch.data(), bytes);
    }
    // The buffer is full, so there may be more. Reread everything: two halves could be from
    // different moments.
    if (scratch.size() >= kMostBytesOfAFile) {
      return too_large(path_, {kMostBytesOfAFile, ErrorCode::kCorrupt});
    }
    scratch.resize(scratch.size() * 2);
  }
}

Result<Directory> Directory::open(const std::string& path) {
  FileDescriptor fd(
      uninterrupted([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  if (fd.get() < 0) {
    return tl::unexpected(system_error(errno, "cannot open directory " + quote(path)));
  }
  return Directory(std::move(fd), path);
}

std::string Directory::path_of(std::string_view relative) const {
  std::string path = path_;
  if (!path.ends_with('/')) {
    path += '/';
  }
  return path.append(relative);
}

Result<Directory> Directory::directory(std::string_view relative) const {
  const std::string name(relative);
  FileDescriptor fd(uninterrupted(
      [&] { return ::openat(fd_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  if (fd.get() < 0) {
    return tl::unexpected(system_error(errno, "cannot open " + quote(path_of(relative))));
  }
  return Directory(std::move(fd), path_of(relative));
}

Result<KeptFile> Directory::file(std::string_view relative) const {
  const std::string path = path_of(relative);
  return open_to_read(fd_.get(), std::string(relative), path).map([&](FileDescriptor&& fd) {
    return KeptFile(std::move(fd), path);
  });
}

Result<std::string> Directory::read(std::string_view relative) const {
  return read_whole(fd_.get(), std::string(relative), path_of(relative),
                    {kMostBytesOfAFile, ErrorCode::kCorrupt});
}

Result<std::vector<std::string>> Directory::names() const {
  // fd_ is an O_PATH descriptor, which cannot be listed; "." is the same directory opened for
  // reading.
  const auto failed = [&] {
    return tl::unexpected(system_error(errno, "cannot list " + quote(path_)));
  };
  const int fd =
      uninterrupted([&] { return ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) {
    return failed();
  }
  const std::unique_ptr<DIR, CloseDirectoryStream> stream(::fdopendir(fd));
  if (!stream) {
    const FileDescriptor closes_itself(fd);
    return failed();
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  if (errno != 0) {
    return failed();
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::uint64_t> Directory::link_count() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) {
    return tl::unexpected(system_error(errno, "cannot look at " + quote(path_)));
  }
  return std::uint64_t{status.st_nlink};
}

Result<std::uint64_t> Directory::inode_of(std::string_view relative) const {
  struct stat status {};
  if (::fstatat(fd_.get(), std::string(relative).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return tl::unexpected(system_error(errno, "cannot look at " + quote(path_of(relative))));
  }
  return std::uint64_t{status.st_ino};
}

}  // namespace vmnuma::files
