// SPDX-License-Identifier: Apache-2.0
/// Serves GET and HEAD requests of untrusted clients over TCP or a Unix socket; with TLS and
/// passwords if a file requires them (web_access.h).
///
/// Problem: a TCP port is reachable by every program on the host, including broken and hostile
/// ones; a server that uses a thread per client, or reads lines of any length, is brought down by
/// the first of them. Approach: Boost.Beast parses and serialises; one thread; one request per
/// connection; every connection has a fixed share of memory and a deadline. If all places are
/// taken, a new connection replaces the one that has kept us waiting longest, so that silent
/// clients do not lock others out. Passwords that are not known yet are checked on another thread,
/// one at a time.
///
/// Terms: *place* - the resources of one connection. *lingering* - the time in which further input
/// from a client is discarded, so that it can read our answer before the connection is reset.
///
/// Properties:
///  - at most `most_connections` are open, each of which holds at most kLongestHead of its client's
///    input and, in the kernel, a bounded part of its answer; bodies are shared, not copied;
///  - no connection lives longer than the sum of the three limits, however slowly its client reads
///    or writes;
///  - a head that is too long, or is not HTTP, is answered with an error and affects only its own
///    connection;
///  - nothing a client does can end the server, or make another client wait longer than it takes to
///    answer it or, if that client's password is not known yet, to check most_connections
///    passwords;
///  - if there are passwords, requests without a valid one get only 401 and 503.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "tools/exporter/http_message.h"

namespace vmnuma::tools {

class WebAccess;

struct HttpLimits {
  std::size_t most_connections = 64;
  std::chrono::milliseconds to_ask{5000};      ///< until a request is complete, TLS included
  std::chrono::milliseconds to_answer{10000};  ///< until the client has received its answer
  std::chrono::milliseconds linger_time{1000};
};

/// Where to listen: an address of this host, not a name; or a Unix socket.
struct ListenAddress {
  std::string host;        ///< "127.0.0.1", "::1", "0.0.0.0"
  std::uint16_t port = 0;  ///< 0: any free port
  std::string path = {};   ///< of a Unix socket; empty: TCP
};

/// Parses "127.0.0.1:9721", "[::1]:9721", "unix:/run/web.sock". Error: invalid-argument.
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

class HttpServer {
 public:
  virtual ~HttpServer() = default;

  /// Must not block. Called on the thread of run().
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  /// Starts listening. A Unix socket without a listener is replaced; any process that has access to
  /// its folder may connect. Without `access` there are no restrictions and no encryption. Errors:
  /// invalid-argument (no such address), busy (another program listens there), permission-denied,
  /// io.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> listen(
      const ListenAddress& address, HttpLimits limits, Handler handler,
      std::shared_ptr<WebAccess> access = nullptr);

  /// Returns the address to enter in a browser: "http://127.0.0.1:9721/", https:// with TLS, or
  /// "unix:/run/web.sock".
  [[nodiscard]] virtual std::string url() const = 0;

  /// Serves until `stop_fd`, which the caller owns, becomes readable. Error: io.
  [[nodiscard]] virtual Result<void> run(int stop_fd) = 0;
};

}  // namespace vmnuma::tools
