// SPDX-License-Identifier: Apache-2.0
/// Cuts what arrives on a socket into lines.
///
/// Problem: a socket delivers pieces of lines, and a peer may never end one. Approach: keep the
/// unfinished line, up to a limit.
///
/// Properties:
///  - lines come out as they were sent, however the pieces were cut;
///  - more than `limit` bytes without an end of line are an error, after which the connection is to
///    be closed.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::balancer {

class LineBuffer {
 public:
  /// `limit`: longest line in bytes, its '\n' not counted.
  explicit LineBuffer(std::size_t limit) : limit_(limit) {}

  /// Adds what was read. Take the lines out before adding more. Error: invalid-argument if a line
  /// is too long; complete lines before it can still be taken.
  [[nodiscard]] Result<void> append(std::string_view bytes);

  /// The next complete line without its '\n', or nothing.
  [[nodiscard]] std::optional<std::string> next_line();

  /// True if the beginning of a line is waiting for its end.
  [[nodiscard]] bool has_unfinished_line() const { return !unfinished_.empty(); }

 private:
  std::size_t limit_;
  std::deque<std::string> lines_;
  std::string unfinished_;
};

}  // namespace vmnuma::balancer
