// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/line_buffer.h"

namespace vmnuma::balancer {

Result<void> LineBuffer::append(std::string_view bytes) {
  std::size_t unfinished = buffer_.size() - (buffer_.rfind('\n') + 1);  // npos + 1 is 0
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    const std::size_t content = end == std::string_view::npos ? piece.size() : piece.size() - 1;
    if (unfinished + content > limit_) {
      return failure(ErrorCode::kInvalidArgument,
                     "a line is longer than " + std::to_string(limit_) + " bytes");
    }
    buffer_ += piece;
    bytes.remove_prefix(piece.size());
    unfinished = end == std::string_view::npos ? unfinished + content : 0;
  }
  return {};
}

std::optional<std::string> LineBuffer::next_line() {
  const std::size_t end = line_end();
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

}  // namespace vmnuma::balancer
