// SPDX-License-Identifier: Apache-2.0
/// The file of a recording.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {

/// Written line by line, so that it is complete at any time.
class RecordingFile {
 public:
  /// Creates the file, readable for its owner only; lines go to that file even if its name is
  /// reused. Errors: invalid-argument (it exists already), not-found, permission-denied, io.
  [[nodiscard]] static Result<RecordingFile> create(const std::string& path);

  /// Each line with its '\n'. Errors: no-space, io.
  [[nodiscard]] Result<void> write(const std::vector<std::string>& lines);

 private:
  RecordingFile(std::string path, files::FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  files::FileDescriptor file_;
};

}  // namespace vmnuma::tools
