// SPDX-License-Identifier: Apache-2.0
/// The file of a recording.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "placement/result.h"

namespace vmnuma::tools {

/// Written line by line, so that what is there is whole at any time.
class RecordingFile {
 public:
  /// Makes the file, readable for its owner only. Errors: invalid-argument (it exists already),
  /// not-found, permission-denied, io.
  [[nodiscard]] static Result<RecordingFile> create(const std::string& path);

  /// Each line with its '\n'. Errors: no-space, io.
  [[nodiscard]] Result<void> write(const std::vector<std::string>& lines);

 private:
  RecordingFile(std::string path, std::ofstream stream)
      : path_(std::move(path)), stream_(std::move(stream)) {}
  std::string path_;
  std::ofstream stream_;
};

}  // namespace vmnuma::tools
