// SPDX-License-Identifier: Apache-2.0
#include "tools/client/client.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "balancer/protocol/line_buffer.h"
#include "balancer/protocol/response.h"
#include "stats/files/file_descriptor.h"
#include "tools/client/sim_folder.h"

namespace vmnuma::tools {

namespace {

using std::chrono::steady_clock;

constexpr std::int64_t kRequestId = 1;  // one request per connection

/// A connected socket; all its calls share one deadline.
class Connection {
 public:
  [[nodiscard]] static Result<Connection> open(const std::string& path,
                                               std::chrono::milliseconds limit) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path)) {
      return failure(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' cannot be a socket, because the path must have 1 to {} bytes", path,
                      sizeof(address.sun_path) - 1));
    }
    path.copy(address.sun_path, path.size());
    Connection connection(path, limit);
    if (connection.fd_.get() < 0) {
      return connection.system_failure("cannot make a socket for");
    }
    // The time limit for sending applies to connecting, too (unix(7), Linux 6.1
    // net/unix/af_unix.c).
    VMNUMA_RETURN_IF_ERROR(connection.set_time_limit());
    // sockaddr stands for any kind of address.
    if (::connect(connection.fd_.get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof(address)) != 0) {
      return connection.system_failure("cannot connect to");
    }
    return connection;
  }

  [[nodiscard]] Result<Peer> peer() const {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
      return system_failure("cannot ask who listens on");
    }
    return Peer{credentials.pid, credentials.uid};
  }

  [[nodiscard]] Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (auto set = set_time_limit(); !set) {
        return set;
      }
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) {
        continue;
      }
      if (sent < 0) {
        return system_failure("cannot write to");
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  [[nodiscard]] Result<std::string> receive_line(std::size_t longest) {
    balancer::LineBuffer buffer(longest);
    std::array<char, 65536> chunk{};
    while (true) {
      if (auto line = buffer.next_line()) {
        return std::move(*line);
      }
      VMNUMA_RETURN_IF_ERROR(set_time_limit());
      const ssize_t got = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return system_failure("cannot read from");
      }
      if (got == 0) {
        return failure(ErrorCode::kUnavailable,
                       fmt::format("the daemon behind '{}' hung up without an answer", path_));
      }
      if (auto added = buffer.append({chunk.data(), static_cast<std::size_t>(got)}); !added) {
        return failure(std::move(added).error(), fmt::format("in the answer from '{}'", path_));
      }
    }
  }

 private:
  Connection(std::string path, std::chrono::milliseconds limit)
      : path_(std::move(path)), limit_(limit) {}

  [[nodiscard]] tl::unexpected<Error> timed_out() const {
    return failure(
        ErrorCode::kUnavailable,
        limit_.count() > 0
            ? fmt::format("the daemon behind '{}' did not answer within {} ms", path_,
                          limit_.count())
            : fmt::format("there was no time left to ask the daemon behind '{}'", path_));
  }

  [[nodiscard]] tl::unexpected<Error> system_failure(std::string_view what) const {
    const int number = errno;
    if (number == EAGAIN || number == EWOULDBLOCK || number == EINPROGRESS) {
      return timed_out();
    }
    std::string hint;
    if (number == ENOENT || number == ECONNREFUSED) {
      hint = path_ == sim_socket(sim_folder())
                 ? "; 'vmnumad --simulate' does not seem to be running"
                 : "; vmnumad does not seem to be running";
    } else if (number == EACCES) {
      hint = "; root and the members of the socket's group may connect";
    }
    return failure(ErrorCode::kUnavailable,
                   fmt::format("{} '{}': {}{}", what, path_, std::strerror(number), hint), number);
  }

  /// Limits the next call to the time left until the deadline.
  [[nodiscard]] Result<void> set_time_limit() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - steady_clock::now());
    if (left.count() <= 0) {
      return timed_out();
    }
    timeval time{};
    time.tv_sec = static_cast<time_t>(left.count() / 1000000);
    time.tv_usec = static_cast<suseconds_t>(left.count() % 1000000);
    if (::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) != 0 ||
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) != 0) {
      return system_failure("cannot set a time limit on");
    }
    return {};
  }

  std::string path_;
  std::chrono::milliseconds limit_;
  steady_clock::time_point deadline_ = steady_clock::now() + limit_;
  files::FileDescriptor fd_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

Result<std::string> exchange_lines(const std::string& socket_path, const balancer::Command& command,
                                   std::chrono::milliseconds limit) {
  VMNUMA_ASSIGN_OR_RETURN(auto connection, Connection::open(socket_path, limit));
  VMNUMA_RETURN_IF_ERROR(connection.send(balancer::encode_request({kRequestId, command})));
  return connection.receive_line(balancer::kLongestAnswer);
}

}  // namespace

Result<Peer> peer_of(const std::string& socket_path, std::chrono::milliseconds limit) {
  return Connection::open(socket_path, limit).and_then([](const Connection& connection) {
    return connection.peer();
  });
}

tl::expected<std::string, Refusal> ask(const std::string& socket_path,
                                       const balancer::Command& command,
                                       std::chrono::milliseconds limit) {
  auto line = exchange_lines(socket_path, command, limit);
  if (!line) {
    return tl::unexpected(Refusal{/*by_daemon=*/false, std::move(line).error()});
  }
  auto response = balancer::parse_response(*line, kRequestId);
  if (!response) {
    return tl::unexpected(Refusal{/*by_daemon=*/false, std::move(response).error().within(
                                                           fmt::format("from '{}'", socket_path))});
  }
  if (!response->result) {
    return tl::unexpected(Refusal{/*by_daemon=*/true, std::move(response->result).error()});
  }
  return std::move(*response->result);
}

}  // namespace vmnuma::tools
