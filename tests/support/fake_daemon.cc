// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_daemon.h"

#include <array>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "balancer/protocol/line_buffer.h"

namespace vmnuma::tests {

namespace {

/// Returns the first line received, or nothing if the peer closes the connection before.
std::optional<std::string> read_line(int fd) {
  balancer::LineBuffer buffer(balancer::kLongestRequest);
  std::array<char, 4096> chunk{};
  while (true) {
    if (auto line = buffer.next_line()) {
      return line;
    }
    const ssize_t got = ::recv(fd, chunk.data(), chunk.size(), 0);
    if (got <= 0 || !buffer.append({chunk.data(), static_cast<std::size_t>(got)})) {
      return std::nullopt;
    }
  }
}

/// Sends the text; stops when the peer has closed the connection.
void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

FakeDaemon::FakeDaemon(Reply reply) : reply_(std::move(reply)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket_path();
  VMNUMA_CHECK(path.size() < sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  VMNUMA_CHECK(listener_ >= 0);
  VMNUMA_CHECK(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
               0);
  VMNUMA_CHECK(::listen(listener_, 8) == 0);
  thread_ = std::thread([this] { serve(); });
}

FakeDaemon::~FakeDaemon() {
  (void)::shutdown(listener_, SHUT_RDWR);  // wakes accept(), which then fails
  thread_.join();
  for (const int fd : held_) {
    (void)::close(fd);  // the test is over
  }
  (void)::close(listener_);
}

FakeDaemon::Reply FakeDaemon::answering(
    std::function<Result<balancer::Answer>(const balancer::Command&)> answer) {
  return [answer = std::move(answer)](const std::string& line) -> std::optional<std::string> {
    const auto request = balancer::parse_request(line);
    return request ? balancer::encode_response(request->id, answer(request->command))
                   : balancer::encode_response(request.error());
  };
}

void FakeDaemon::serve() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      return;
    }
    const auto line = read_line(fd);
    const auto text = line ? reply_(*line) : std::optional<std::string>("");
    if (!text) {
      held_.push_back(fd);
      continue;
    }
    send_all(fd, *text);
    (void)::close(fd);  // one request per connection is enough for tests
  }
}

}  // namespace vmnuma::tests
