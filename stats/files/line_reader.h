// SPDX-License-Identifier: Apache-2.0
/// Reads the lines of a regular file that may be larger than memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::files {

class LineReader {
 public:
  /// `longest` is the length in bytes of the longest line that is returned whole. Errors: as
  /// open_to_read() (open.h).
  [[nodiscard]] static Result<LineReader> open(const std::string& path, std::size_t longest);

  /// Returns the next line without its '\n', or nothing at the end or if the file cannot be read
  /// any further. A longer line is returned in pieces: `longest` + 1 bytes, then the rest.
  [[nodiscard]] std::optional<std::string> next();

 private:
  LineReader(FileDescriptor file, std::size_t longest)
      : file_(std::move(file)), longest_(longest) {}
  /// Reads more bytes; false at the end.
  [[nodiscard]] bool fill();

  FileDescriptor file_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t at_ = 0;  ///< the first byte of the buffer that was not returned yet
};

}  // namespace vmnuma::files
