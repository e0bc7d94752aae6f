// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/recording_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace vmnuma::tools {

namespace {

ErrorCode code_of(int number) {
  switch (number) {
    case EEXIST:
      return ErrorCode::kInvalidArgument;
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kNoSpace;
    default:
      return ErrorCode::kIo;
  }
}

tl::unexpected<Error> failed(const char* what, const std::string& path) {
  const int number = errno;
  return failure(code_of(number),
                 fmt::format("cannot {} '{}': {}", what, path, std::strerror(number)), number);
}

}  // namespace

Result<RecordingFile> RecordingFile::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    return failed("create", path);
  }
  (void)::close(fd);  // it only had to be made
  std::ofstream stream(path, std::ios::binary | std::ios::app);
  if (!stream) {
    return failed("open", path);
  }
  return RecordingFile(path, std::move(stream));
}

Result<void> RecordingFile::write(const std::vector<std::string>& lines) {
  errno = 0;
  for (const std::string& line : lines) {
    stream_ << line;
  }
  stream_.flush();
  if (!stream_) {
    return failed("write", path_);
  }
  return {};
}

}  // namespace vmnuma::tools
