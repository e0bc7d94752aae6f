// SPDX-License-Identifier: Apache-2.0
#include "stats/files/file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "stats/files/open.h"

namespace vmnuma::files {

namespace {

/// More than ever accumulate; beyond this, an administrator must clean up.
constexpr int kMostSetAside = 1000;

tl::unexpected<Error> system_failure(const char* what, const std::string& path) {
  return tl::unexpected(system_error(errno, std::string("cannot ") + what + " '" + path + "'"));
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  return read_whole(AT_FDCWD, path, path, {most_bytes, ErrorCode::kInvalidArgument});
}

Result<void> replace_file(const std::string& path, std::string_view text, unsigned int mode) {
  const std::string beside = path + ".new";
  {
    const FileDescriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
               static_cast<mode_t>(mode)));
    if (file.get() < 0) {
      return system_failure("create", beside);
    }
    if (!write_all(file.get(), text)) {
      return system_failure("write", beside);
    }
    if (::fsync(file.get()) != 0) {
      return system_failure("sync", beside);
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    return system_failure("replace", path);
  }
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    return system_failure("keep", path);
  }
  return {};
}

Result<std::string> set_aside(const std::string& path) {
  for (int number = 1; number <= kMostSetAside; ++number) {
    std::string target = path + ".damaged-" + std::to_string(number);
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(target, error))) {
      continue;
    }
    std::filesystem::rename(path, target, error);
    if (error) {
      return failure(ErrorCode::kIo, "it could not be set aside: " + error.message(),
                     error.value());
    }
    return target;
  }
  return failure(ErrorCode::kNoSpace, "it could not be set aside: too many are already");
}

}  // namespace vmnuma::files
