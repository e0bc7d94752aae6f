// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/recording_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

namespace vmnuma::tools {

Result<RecordingFile> RecordingFile::create(const std::string& path) {
  files::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    return tl::unexpected(files::system_error(errno, fmt::format("cannot create '{}'", path)));
  }
  return RecordingFile(path, std::move(file));
}

Result<void> RecordingFile::write(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (!files::write_all(file_.get(), line)) {
      return tl::unexpected(files::system_error(errno, fmt::format("cannot write '{}'", path_)));
    }
  }
  return {};
}

}  // namespace vmnuma::tools
