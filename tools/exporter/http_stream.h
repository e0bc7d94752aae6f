// SPDX-License-Identifier: Apache-2.0
/// One client's connection as a stream of bytes, in plain text or with TLS, with a deadline.
///
/// Problem: the operations of Asio and Beast are templates over the stream and the handler, and
/// with TLS each of them takes seconds to compile. Approach: one handler type, and only the
/// operations that a server needs. The handler must keep the stream's owner alive. Property: a
/// pending operation ends with an error once the deadline has passed or the connection is closed.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

namespace vmnuma::tools {

class HttpStream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Clock = std::chrono::steady_clock;
  /// Gets the number of bytes read or written.
  using Done = std::function<void(const boost::system::error_code&, std::size_t)>;
  /// A head and a body.
  using Buffers = std::array<boost::asio::const_buffer, 2>;

  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  /// Sets the deadline of all operations from now on.
  virtual void set_deadline(Clock::time_point deadline) = 0;
  /// Must be called first. Without TLS it does nothing and calls `done` immediately.
  virtual void handshake(Done done) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Done done) = 0;
  virtual void write(Buffers buffers, Done done) = 0;
  /// Call after the last write. It is not an error if a client closes the connection without a TLS
  /// shutdown.
  virtual void end_sending(Done done) = 0;
  /// Reads what arrives after that, without decrypting it.
  virtual void read_raw(boost::asio::mutable_buffer into, Done done) = 0;
  virtual void close() = 0;
};

/// Makes a stream, with TLS if `tls` is not null; `tls` must outlive the stream.
[[nodiscard]] std::unique_ptr<HttpStream> make_http_stream(HttpStream::Socket socket,
                                                           boost::asio::ssl::context* tls);

}  // namespace vmnuma::tools
