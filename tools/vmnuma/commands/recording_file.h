// SPDX-License-Identifier: Apache-2.0
/// The file of a recording.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {

/// A file written line by line, so that it is complete at any time.
class RecordingFile {
 public:
  /// Creates the file, readable only for its owner; lines go to that file even if its name is
  /// reused. Errors: invalid-argument (it exists already), not-found, permission-denied, io.
  [[nodiscard]] static Result<RecordingFile> create(const std::string& path);

  /// Writes lines, each of which ends with '\n'. Errors: no-space, io.
  [[nodiscard]] Result<void> write(const std::vector<std::string>& lines);

 private:
  RecordingFile(std::string path, files::FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  files::FileDescriptor file_;
};

}  // namespace vmnuma::tools
