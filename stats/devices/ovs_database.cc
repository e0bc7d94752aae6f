// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/ovs_database.h"

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "stats/devices/ovs_bridges.h"
#include "stats/files/file_descriptor.h"
#include "stats/text/json.h"

namespace vmnuma::stats {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Splits a stream of JSON texts into its objects, byte by byte.
class Objects {
 public:
  /// Returns a whole object if `byte` was its last.
  [[nodiscard]] std::optional<std::string> take(char byte) {
    if (depth_ == 0 && byte != '{') {
      return std::nullopt;  // white space between texts, or a text that is not an object and
                            // therefore has no id
    }
    text_ += byte;
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (in_string_) {
      is_escaped_ = byte == '\\';
      in_string_ = byte != '"';
    } else if (byte == '"') {
      in_string_ = true;
    } else if (byte == '{' || byte == '[') {
      ++depth_;
    } else if (byte == '}' || byte == ']') {
      --depth_;
    }
    return depth_ == 0 ? std::optional(std::exchange(text_, {})) : std::nullopt;
  }

 private:
  std::string text_;
  int depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

bool is_the_answer(const std::string& object) {
  const auto json = text::read_json<nlohmann::json>(object, {.bytes = kMostOvsBytes}, "it");
  const auto id = json ? json->find("id") : nlohmann::json::const_iterator();
  return json && id != json->end() && *id == 0 && json->contains("result");
}

class Connection {
 public:
  Connection(files::FileDescriptor fd, steady_clock::time_point deadline)
      : fd_(std::move(fd)), deadline_(deadline) {}

  [[nodiscard]] Result<void> connect(const sockaddr_un& address) {
    // sockaddr stands for any kind of address. The call does not block: EAGAIN means that the
    // server's backlog is full.
    if (files::uninterrupted([&] {
          return ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
        }) == 0) {
      return {};
    }
    return errno == EAGAIN || errno == ECONNREFUSED
               ? Result<void>(silent())
               : tl::unexpected(
                     files::system_error(errno, "cannot connect to Open vSwitch's database"));
  }

  [[nodiscard]] Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!wait(POLLOUT)) {
        return silent();
      }
      const ssize_t sent = files::uninterrupted(
          [&] { return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
      if (sent < 0 && errno != EAGAIN) {
        return tl::unexpected(files::system_error(errno, "cannot ask Open vSwitch's database"));
      }
      bytes.remove_prefix(sent < 0 ? 0 : static_cast<std::size_t>(sent));
    }
    return {};
  }

  [[nodiscard]] Result<std::string> receive_answer() {
    Objects objects;
    std::array<char, 65536> chunk{};
    for (std::size_t total = 0; total < kMostOvsBytes;) {
      if (!wait(POLLIN)) {
        return silent();
      }
      const ssize_t got =
          files::uninterrupted([&] { return ::recv(fd_.get(), chunk.data(), chunk.size(), 0); });
      if (got == 0) {
        return silent();
      }
      if (got < 0 && errno != EAGAIN) {
        return tl::unexpected(
            files::system_error(errno, "cannot read from Open vSwitch's database"));
      }
      const std::string_view bytes(chunk.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
      total += bytes.size();
      for (const char byte : bytes) {
        if (auto object = objects.take(byte); object && is_the_answer(*object)) {
          return std::move(*object);
        }
      }
    }
    return failure(ErrorCode::kCorrupt, "the answer of Open vSwitch's database is too long");
  }

 private:
  [[nodiscard]] static tl::unexpected<Error> silent() {
    return failure(ErrorCode::kUnavailable, "Open vSwitch's database did not answer");
  }

  /// False at the deadline.
  [[nodiscard]] bool wait(short events) const {
    pollfd one{fd_.get(), events, 0};
    const auto ready = files::uninterrupted([&] {
      const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now()).count();
      return left <= 0 ? 0 : ::poll(&one, 1, static_cast<int>(left));
    });
    return ready > 0;
  }

  files::FileDescriptor fd_;
  steady_clock::time_point deadline_;
};

}  // namespace

Result<std::string> ask_ovs_database(const std::string& socket_path, milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path)) {
    return failure(ErrorCode::kInvalidArgument, "'" + socket_path + "' is too long for a socket");
  }
  socket_path.copy(address.sun_path, socket_path.size());
  files::FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) {
    return tl::unexpected(files::system_error(errno, "cannot make a socket"));
  }
  Connection connection(std::move(fd), steady_clock::now() + patience);
  return connection.connect(address)
      .and_then([&] { return connection.send(ovs_request()); })
      .and_then([&] { return connection.receive_answer(); });
}

}  // namespace vmnuma::stats
