// SPDX-License-Identifier: Apache-2.0
#include "stats/files/line_reader.h"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

#include "stats/files/open.h"

namespace vmnuma::files {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

}  // namespace

Result<LineReader> LineReader::open(const std::string& path, std::size_t longest) {
  return open_to_read(AT_FDCWD, path, path).map([longest](FileDescriptor&& file) {
    return LineReader(std::move(file), longest);
  });
}

bool LineReader::fill() {
  buffer_.resize(kBufferBytes);
  at_ = 0;
  const ssize_t got =
      uninterrupted([this] { return ::read(file_.get(), buffer_.data(), buffer_.size()); });
  buffer_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return got > 0;
}

std::optional<std::string> LineReader::next() {
  std::string line;
  while (at_ < buffer_.size() || fill()) {
    const std::size_t room = longest_ + 1 - line.size();
    const std::size_t end = buffer_.find('\n', at_);
    const std::size_t bytes = std::min(std::min(end, buffer_.size()) - at_, room);
    line.append(buffer_, at_, bytes);
    at_ += bytes;
    if (bytes == room) {
      return line;
    }
    if (at_ == end) {
      ++at_;
      return line;
    }
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

}  // namespace vmnuma::files
