// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;

constexpr int kBacklog = 1024;
/// What the kernel keeps for a client that does not read, in bytes; it doubles that (socket(7)).
constexpr int kSendBuffer = 128 * 1024;
/// New connections between two looks at the others.
constexpr int kAcceptedAtOnce = 16;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  // sockaddr is how the calls take every kind of address.
  [[nodiscard]] sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<SocketAddress> socket_address(const ListenAddress& address) {
  SocketAddress result;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&result.storage, &v4, sizeof(v4));
    result.size = sizeof(v4);
    return result;
  }
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    std::memcpy(&result.storage, &v6, sizeof(v6));
    result.size = sizeof(v6);
    return result;
  }
  return failure(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no IPv4 or IPv6 address", address.host));
}

std::string text_of(const ListenAddress& address) {
  return address.host.find(':') == std::string::npos
             ? fmt::format("{}:{}", address.host, address.port)
             : fmt::format("[{}]:{}", address.host, address.port);
}

tl::unexpected<Error> cannot_listen(const ListenAddress& address) {
  const int number = errno;
  const ErrorCode code = number == EADDRINUSE ? ErrorCode::kBusy
                         : number == EACCES   ? ErrorCode::kPermissionDenied
                         : number == EADDRNOTAVAIL || number == EINVAL ? ErrorCode::kInvalidArgument
                                                                       : ErrorCode::kIo;
  return failure(code,
                 fmt::format("cannot listen at '{}': {}", text_of(address), std::strerror(number)),
                 number);
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  ListenAddress address;
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    address.host = text.substr(0, colon);
    const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
    if (bracketed) {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
    if (error == std::errc() && end == port.data() + port.size() &&
        bracketed == (address.host.find(':') != std::string::npos) && socket_address(address)) {
      return address;
    }
  }
  return failure(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no address to listen at, such as '127.0.0.1:9721' or "
                             "'[::1]:9721'",
                             text));
}

Result<HttpServer> HttpServer::listen(const ListenAddress& address, HttpLimits limits,
                                      Handler handler) {
  auto where = socket_address(address);
  if (!where) {
    return tl::unexpected(std::move(where).error());
  }
  files::FileDescriptor listener(
      ::socket(where->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // Reuse: after a restart, connections of the former run may still be winding down.
  if (listener.get() < 0 ||
      ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      // Connections take it over from the listener (tcp(7)).
      ::setsockopt(listener.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer)) != 0 ||
      ::bind(listener.get(), where->generic(), where->size) != 0 ||
      ::listen(listener.get(), kBacklog) != 0 ||
      ::getsockname(listener.get(), where->generic(), &where->size) != 0) {
    return cannot_listen(address);
  }
  ListenAddress bound = address;
  if (where->storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &where->storage, sizeof(v4));
    bound.port = ntohs(v4.sin_port);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &where->storage, sizeof(v6));
    bound.port = ntohs(v6.sin6_port);
  }
  return HttpServer(std::move(listener), std::move(bound), limits, std::move(handler));
}

HttpServer::HttpServer(files::FileDescriptor listener, ListenAddress address, HttpLimits limits,
                       Handler handler)
    : listener_(std::move(listener)),
      address_(std::move(address)),
      limits_(limits),
      handler_(std::move(handler)) {}

std::string HttpServer::url() const {
  return "http://" + text_of(address_) + "/";
}

Result<void> HttpServer::run(int stop_fd) {
  std::vector<pollfd> polled;
  while (true) {
    polled.assign({{stop_fd, POLLIN, 0}, {listener_.get(), POLLIN, 0}});
    auto next = Clock::time_point::max();
    for (const Connection& connection : connections_) {
      const bool writes = connection.state == State::kAnswering;
      polled.push_back({connection.fd.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
      next = std::min(next, connection.deadline);
    }
    // One millisecond more than rounded down, so that the deadline has passed afterwards.
    const auto left = std::chrono::duration_cast<milliseconds>(next - Clock::now()).count() + 1;
    const int wait =
        connections_.empty() ? -1 : static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
    if (::poll(polled.data(), polled.size(), wait) < 0 && errno != EINTR) {
      return failure(ErrorCode::kIo,
                     fmt::format("cannot wait for connections: {}", std::strerror(errno)), errno);
    }
    if (polled[0].revents != 0) {
      return {};
    }
    std::size_t index = 2;
    for (Connection& connection : connections_) {
      if (polled[index++].revents != 0) {
        go_on(connection);
      }
    }
    const auto now = Clock::now();
    connections_.remove_if([now](const Connection& connection) {
      return connection.state == State::kOver || connection.deadline <= now;
    });
    if (polled[1].revents != 0) {
      accept_some();
    }
  }
}

void HttpServer::accept_some() {
  for (int accepted = 0; accepted < kAcceptedAtOnce; ++accepted) {
    files::FileDescriptor fd(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.get() < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        make_room();  // somebody else's descriptors ran out; ours are few
      }
      return;  // nobody is left, or the one who was has gone
    }
    if (connections_.size() >= limits_.most_connections) {
      make_room();
    }
    connections_.push_back(
        {std::move(fd), State::kAsking, Clock::now() + limits_.to_ask, {}, 0, nullptr});
    read_head(connections_.back());  // what was sent along is mostly there already
  }
}

/// Ends the connection that has kept us waiting longest: one that has not asked yet if there is
/// any.
void HttpServer::make_room() {
  auto victim = std::find_if(connections_.begin(), connections_.end(),
                             [](const Connection& one) { return one.state != State::kAnswering; });
  if (victim == connections_.end()) {
    victim = connections_.begin();
  }
  if (victim != connections_.end()) {
    connections_.erase(victim);
  }
}

void HttpServer::go_on(Connection& connection) {
  switch (connection.state) {
    case State::kAsking:
      read_head(connection);
      break;
    case State::kAnswering:
      write_answer(connection);
      break;
    case State::kLingering:
      read_away(connection);
      break;
    case State::kOver:
      break;
  }
}

void HttpServer::read_head(Connection& connection) {
  std::array<char, kLongestHead> chunk{};
  const ssize_t got = files::uninterrupted([&] {
    return ::recv(connection.fd.get(), chunk.data(), kLongestHead - connection.head.size(), 0);
  });
  if (got <= 0) {
    connection.state = got < 0 && would_block() ? State::kAsking : State::kOver;
    return;
  }
  connection.head.append(chunk.data(), static_cast<std::size_t>(got));
  // Lines may end with a line feed alone (RFC 9112, section 2.2).
  const auto crlf = connection.head.find("\r\n\r\n");
  const auto lf = connection.head.find("\n\n");
  const auto end = std::min(crlf, lf);
  if (end == std::string::npos) {
    if (connection.head.size() >= kLongestHead) {
      answer(connection, HttpResponse::of(431, "The request's head is too long.\n"));
    }
    return;
  }
  const auto request = parse_http_head(std::string_view(connection.head).substr(0, end));
  answer(connection, request
                         ? handler_(*request)
                         : HttpResponse::of(request.error(),
                                            fmt::format("{}.\n", http_reason(request.error()))));
}

void HttpServer::answer(Connection& connection, const HttpResponse& response) {
  connection.state = State::kAnswering;
  connection.deadline = Clock::now() + limits_.to_answer;
  connection.head = http_head(response);
  connection.body = response.body;
  write_answer(connection);
}

void HttpServer::write_answer(Connection& connection) {
  const std::string_view body = connection.body ? std::string_view(*connection.body) : "";
  std::string_view head = connection.head;
  const std::size_t whole = head.size() + body.size();
  while (connection.sent < whole) {
    const bool in_head = connection.sent < head.size();
    const std::string_view rest =
        in_head ? head.substr(connection.sent) : body.substr(connection.sent - head.size());
    const ssize_t sent = files::uninterrupted([&] {
      return ::send(connection.fd.get(), rest.data(), rest.size(),
                    MSG_NOSIGNAL | (in_head && !body.empty() ? MSG_MORE : 0));
    });
    if (sent < 0) {
      connection.state = would_block() ? State::kAnswering : State::kOver;
      return;
    }
    connection.sent += static_cast<std::size_t>(sent);
  }
  (void)::shutdown(connection.fd.get(), SHUT_WR);  // fails only if the other side has gone
  connection.state = State::kLingering;
  connection.deadline = Clock::now() + limits_.to_linger;
  connection.head.clear();
  connection.body.reset();
}

void HttpServer::read_away(Connection& connection) {
  std::array<char, 65536> chunk{};
  const ssize_t got = files::uninterrupted(
      [&] { return ::recv(connection.fd.get(), chunk.data(), chunk.size(), 0); });
  if (got == 0 || (got < 0 && !would_block())) {
    connection.state = State::kOver;
  }
}

}  // namespace vmnuma::tools
