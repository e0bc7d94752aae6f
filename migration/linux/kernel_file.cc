// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/kernel_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stats/files/open.h"

namespace vmnuma::migration {

namespace {

constexpr std::size_t kLongestFile = std::size_t{64} * 1024 * 1024;

template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// Closes at the end of a scope. Nothing was written, so close() has nothing to lose.
struct Closer {
  int fd;
  ~Closer() { (void)::close(fd); }
};

}  // namespace

Error system_error(int errno_value, std::string_view attempt) {
  ErrorCode code = ErrorCode::kIo;
  if (errno_value == ENOENT) {
    code = ErrorCode::kNotFound;
  } else if (errno_value == ESRCH || errno_value == ENODEV) {
    code = ErrorCode::kVanished;
  } else if (errno_value == EACCES || errno_value == EPERM) {
    code = ErrorCode::kPermissionDenied;
  }
  return {code, errno_value,
          fmt::format("{}: {}", attempt, std::generic_category().message(errno_value))};
}

Result<Folder> Folder::open(const std::string& path) {
  const int fd =
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) {
    return tl::unexpected(system_error(errno, fmt::format("cannot open '{}'", path)));
  }
  return Folder(fd, path.ends_with('/') ? path : path + "/");
}

Folder::~Folder() {
  if (fd_ >= 0) {
    (void)::close(fd_);  // as in Closer
  }
}

Result<int> Folder::open_folder(const std::string& relative) const {
  const int fd = uninterrupted(
      [&] { return ::openat(fd_, relative.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) {
    return tl::unexpected(system_error(errno, fmt::format("cannot open '{}{}'", path_, relative)));
  }
  return fd;
}

Result<Folder> Folder::folder(const std::string& relative) const {
  const auto fd = open_folder(relative);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  return Folder(*fd, fmt::format("{}{}/", path_, relative));
}

Result<std::string> Folder::read(const std::string& relative) const {
  const auto fd = files::open_to_read(fd_, relative, path_ + relative);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  const Closer closer{*fd};
  std::string text;
  std::array<char, 65536> piece;
  for (;;) {
    const auto bytes = uninterrupted([&] { return ::read(*fd, piece.data(), piece.size()); });
    if (bytes < 0) {
      return tl::unexpected(
          system_error(errno, fmt::format("cannot read '{}{}'", path_, relative)));
    }
    if (bytes == 0) {
      return text;
    }
    text.append(piece.data(), static_cast<std::size_t>(bytes));
    if (text.size() > kLongestFile) {
      return failure(ErrorCode::kCorrupt,
                     fmt::format("'{}{}' is longer than {} bytes", path_, relative, kLongestFile));
    }
  }
}

Result<std::vector<std::string>> Folder::names() const {
  const auto fd = open_folder(".");
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  const auto close_stream = [](DIR* stream) { (void)::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close_stream)> stream(::fdopendir(*fd), close_stream);
  if (!stream) {
    const Closer closer{*fd};
    return tl::unexpected(system_error(errno, fmt::format("cannot list '{}'", path_)));
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
    return tl::unexpected(system_error(errno, fmt::format("cannot list '{}'", path_)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace vmnuma::migration
