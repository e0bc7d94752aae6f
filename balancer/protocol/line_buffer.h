// SPDX-License-Identifier: Apache-2.0
/// Splits the data from a socket into lines.
///
/// Problem: a socket delivers pieces of lines, and a peer may never end one. Approach: keep the
/// unfinished line, up to a limit.
///
/// Properties:
///  - lines come out as they were sent, however they were fragmented;
///  - more than `limit` bytes without an end of line are an error, after which the connection must
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
  /// `limit`: the longest line in bytes, excluding its '\n'.
  explicit LineBuffer(std::size_t limit) : limit_(limit) {}

  /// Adds received data. Take out the complete lines before adding more. Error: invalid-argument if
  /// a line is too long; complete lines before it can still be taken.
  [[nodiscard]] Result<void> append(std::string_view bytes);

  /// The next complete line without its '\n', or nothing.
  [[nodiscard]] std::optional<std::string> next_line();

 private:
  std::size_t limit_;
  std::deque<std::string> lines_;
  std::string unfinished_;
};

}  // namespace vmnuma::balancer
