// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/read_input.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace vmnuma::tools {

using std::chrono::steady_clock;

Result<std::string> read_input(int fd, std::size_t most, steady_clock::time_point deadline) {
  std::string text;
  std::array<char, 65536> chunk{};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready == 0) {
      return failure(ErrorCode::kUnavailable, "standard input did not end in time");
    }
    const ssize_t got = ready < 0 ? -1 : ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      const int number = errno;
      return failure(ErrorCode::kIo,
                     fmt::format("cannot read standard input: {}", std::strerror(number)), number);
    }
    if (got == 0) {
      return text;
    }
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > most) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("standard input has more than {} bytes", most));
    }
  }
}

}  // namespace vmnuma::tools
