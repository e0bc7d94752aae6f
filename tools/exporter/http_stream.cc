// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_stream.h"

#include <type_traits>
#include <utility>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>

namespace vmnuma::tools {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using PlainStream = boost::beast::basic_stream<asio::generic::stream_protocol>;
using TlsStream = asio::ssl::stream<PlainStream>;

template <class Stream>
class StreamOver final : public HttpStream {
 public:
  template <class... More>
  explicit StreamOver(Socket socket, More&... more) : stream_(std::move(socket), more...) {}

  void set_deadline(Clock::time_point deadline) override { lowest().expires_at(deadline); }

  void handshake(Done done) override {
    if constexpr (kHasTls) {
      stream_.async_handshake(
          asio::ssl::stream_base::server,
          [done = std::move(done)](const error_code& error) { done(error, 0); });
    } else {
      done({}, 0);
    }
  }

  void read_some(asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, std::move(done));
  }

  void write(Buffers buffers, Done done) override {
    asio::async_write(stream_, buffers, std::move(done));
  }

  void end_sending(Done done) override {
    if constexpr (kHasTls) {
      // The result does not matter: a client may close the connection without a TLS shutdown.
      stream_.async_shutdown(
          [this, done = std::move(done)](const error_code&) { shut_down(done); });
    } else {
      shut_down(done);
    }
  }

  void read_raw(asio::mutable_buffer into, Done done) override {
    lowest().async_read_some(into, std::move(done));
  }

  void close() override { lowest().close(); }

 private:
  static constexpr bool kHasTls = std::is_same_v<Stream, TlsStream>;

  PlainStream& lowest() { return boost::beast::get_lowest_layer(stream_); }

  void shut_down(const Done& done) {
    error_code error;
    lowest().socket().shutdown(asio::socket_base::shutdown_send, error);
    done(error, 0);
  }

  Stream stream_;
};

}  // namespace

std::unique_ptr<HttpStream> make_http_stream(HttpStream::Socket socket, asio::ssl::context* tls) {
  if (tls != nullptr) {
    return std::make_unique<StreamOver<TlsStream>>(std::move(socket), *tls);
  }
  return std::make_unique<StreamOver<PlainStream>>(std::move(socket));
}

}  // namespace vmnuma::tools
