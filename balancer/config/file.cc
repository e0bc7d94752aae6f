// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vmnuma::balancer {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      (void)::close(fd_);  // what matters has been synced before
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> system_failure(const char* what, const std::string& path) {
  const int number = errno;
  ErrorCode code = ErrorCode::kIo;
  if (number == ENOENT) {
    code = ErrorCode::kNotFound;
  } else if (number == EACCES || number == EPERM || number == EROFS) {
    code = ErrorCode::kPermissionDenied;
  } else if (number == ENOSPC || number == EDQUOT) {
    code = ErrorCode::kNoSpace;
  }
  return failure(code, std::string("cannot ") + what + " '" + path + "': " + std::strerror(number),
                 number);
}

Result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return system_failure("write", path);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  // Without O_NONBLOCK a named pipe in the file's place would block here for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return system_failure("open", path);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return system_failure("read", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return failure(ErrorCode::kInvalidArgument, "'" + path + "' is not a regular file");
  }
  std::string text(most_bytes + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return system_failure("read", path);
    }
    if (got == 0) {
      break;
    }
    length += static_cast<std::size_t>(got);
  }
  if (length > most_bytes) {
    return failure(ErrorCode::kInvalidArgument,
                   "'" + path + "' is larger than " + std::to_string(most_bytes) + " bytes");
  }
  text.resize(length);
  return text;
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  {
    const Descriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file.get() < 0) {
      return system_failure("create", beside);
    }
    if (auto written = write_all(file.get(), text, beside); !written) {
      return written;
    }
    if (::fsync(file.get()) != 0) {
      return system_failure("sync", beside);
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    return system_failure("replace", path);
  }
  return {};
}

}  // namespace vmnuma::balancer
