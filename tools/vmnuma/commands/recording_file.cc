// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/recording_file.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace vmnuma::tools {

namespace {

tl::unexpected<Error> file_failure(const char* what, const std::string& path) {
  return tl::unexpected(files::system_error(errno, fmt::format("cannot {} '{}'", what, path)));
}

}  // namespace

Result<RecordingFile> RecordingFile::create(const std::string& path) {
  files::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    return file_failure("create", path);
  }
  return RecordingFile(path, std::move(file));
}

Result<void> RecordingFile::write(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t written =
          files::uninterrupted([&] { return ::write(file_.get(), rest.data(), rest.size()); });
      if (written < 0) {
        return file_failure("write", path_);
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return {};
}

}  // namespace vmnuma::tools
