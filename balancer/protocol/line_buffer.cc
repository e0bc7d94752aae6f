// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/line_buffer.h"

#include <utility>

namespace vmnuma::balancer {

Result<void> LineBuffer::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (piece.size() > limit_ - unfinished_.size()) {
      return failure(ErrorCode::kInvalidArgument,
                     "a line is longer than " + std::to_string(limit_) + " bytes");
    }
    unfinished_ += piece;
    if (end == std::string_view::npos) {
      break;
    }
    lines_.push_back(std::exchange(unfinished_, {}));
    bytes.remove_prefix(end + 1);
  }
  return {};
}

std::optional<std::string> LineBuffer::next_line() {
  if (lines_.empty()) {
    return std::nullopt;
  }
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

}  // namespace vmnuma::balancer
