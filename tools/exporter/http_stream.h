// SPDX-License-Identifier: Apache-2.0
/// One client's connection as bytes, in the clear or with TLS, with a deadline.
///
/// Problem: every operation of Asio and Beast is compiled for each kind of stream and each handler,
/// and those of TLS are long. Approach: one handler type, and the few operations that a server
/// needs, each compiled once for either kind. Properties: an operation ends with an error when the
/// deadline is over or the connection is closed; one reads and one writes at a time; the handler
/// keeps alive what owns the stream.
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
  /// With the bytes that were read or written.
  using Done = std::function<void(const boost::system::error_code&, std::size_t)>;
  /// A head and a body.
  using Buffers = std::array<boost::asio::const_buffer, 2>;

  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  /// For all operations from now on.
  virtual void set_deadline(Clock::time_point deadline) = 0;
  /// Before anything else. In the clear there is nothing to do, and `done` is called at once.
  virtual void handshake(Done done) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Done done) = 0;
  virtual void write(Buffers buffers, Done done) = 0;
  /// After the last write, however the client takes it; the error is that of the socket.
  virtual void end_sending(Done done) = 0;
  /// What still comes after that, as it is on the wire.
  virtual void read_raw(boost::asio::mutable_buffer into, Done done) = 0;
  virtual void close() = 0;
};

/// With TLS if `tls` is not null; it must outlive the stream.
[[nodiscard]] std::unique_ptr<HttpStream> make_http_stream(HttpStream::Socket socket,
                                                           boost::asio::ssl::context* tls);

}  // namespace vmnuma::tools
