// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_server.h"

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "placement/base/number.h"
#include "tools/exporter/http_stream.h"
#include "tools/exporter/web_access.h"

namespace vmnuma::tools {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using local = asio::local::stream_protocol;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

/// How much the kernel buffers for a client that does not read, in bytes; it doubles this value
/// (socket(7)).
constexpr int kSendBuffer = 128 * 1024;
/// Delay before accepting again if this process has no descriptors left.
constexpr std::chrono::milliseconds kUntilNextTry{100};

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

std::string endpoint_text(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return fmt::format("{}:{}", endpoint.address().is_v6() ? "[" + address + "]" : address,
                     endpoint.port());
}

std::string endpoint_text(const local::endpoint& endpoint) {
  return endpoint.path();
}

template <class Endpoint>
tl::unexpected<Error> cannot_listen(const Endpoint& endpoint, const error_code& error) {
  const ErrorCode code = error == asio::error::address_in_use  ? ErrorCode::kBusy
                         : error == asio::error::access_denied ? ErrorCode::kPermissionDenied
                         : error == boost::system::errc::address_not_available ||
                                 error == asio::error::invalid_argument
                             ? ErrorCode::kInvalidArgument
                             : ErrorCode::kIo;
  return failure(code,
                 fmt::format("cannot listen at '{}': {}", endpoint_text(endpoint), error.message()),
                 error.value());
}

/// Returns the status for a head that Beast rejects.
int status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return 431;
  }
  if (error == http::error::body_limit) {
    return 413;
  }
  return error == http::error::bad_version ? 505 : 400;
}

HttpResponse refusal(int status) {
  return HttpResponse::of(
      status,
      std::string(view_of(http::obsolete_reason(static_cast<http::status>(status)))) + ".\n");
}

HttpHead head_of(const http::request<http::empty_body>& request) {
  HttpHead head{.method = view_of(request.method_string()),
                .target = view_of(request.target()),
                .version = static_cast<int>(request.version()),
                .hosts = {},
                .has_body = request.chunked() || request.has_content_length(),
                .expects = request.find(http::field::expect) != request.end()};
  const auto length = request.find(http::field::content_length);
  if (length != request.end() && length->value() == "0") {
    head.has_body = request.chunked();
  }
  const auto [first, last] = request.equal_range(http::field::host);
  for (auto host = first; host != last; ++host) {
    head.hosts.push_back(view_of(host->value()));
  }
  const auto [one, end] = request.equal_range(http::field::accept_encoding);
  for (auto encoding = one; encoding != end; ++encoding) {
    head.encodings.push_back(view_of(encoding->value()));
  }
  if (request.count(http::field::authorization) == 1) {
    head.authorization = view_of(request.at(http::field::authorization));
  }
  return head;
}

}  // namespace

class HttpConnection;

/// The server, as seen by its connections.
struct HttpServing {
  HttpServing(HttpLimits of, HttpServer::Handler with) : limits(of), handler(std::move(with)) {}
  virtual ~HttpServing() = default;
  /// Checks credentials and calls back with whether they are right; returns false if too many are
  /// already being checked.
  virtual bool check(std::shared_ptr<Access> access, Credentials credentials,
                     std::function<void(bool)> done) = 0;
  /// Closes and forgets the connection.
  virtual void end(HttpConnection& connection) = 0;

  HttpLimits limits;
  HttpServer::Handler handler;
};

/// One client, from its acceptance until its socket is closed.
class HttpConnection final : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpServing& serving, std::shared_ptr<Access> access, HttpStream::Socket socket)
      : serving_(serving),
        access_(std::move(access)),
        stream_(make_http_stream(std::move(socket),
                                 access_ && access_->tls ? &*access_->tls : nullptr)) {
    parser_.header_limit(kLongestHead);
    parser_.body_limit(boost::none);  // requests with bodies are rejected because of their headers
  }

  [[nodiscard]] bool is_answering() const { return is_answering_; }
  void close() { stream_->close(); }

  void start() {
    stream_->set_deadline(Clock::now() + serving_.limits.to_ask);
    stream_->handshake([self = shared_from_this()](const error_code& error, std::size_t) {
      error ? self->serving_.end(*self) : self->read_more();
    });
  }

 private:
  void read_more() {
    const std::size_t room = received_.max_size() - received_.size();
    if (room == 0) {
      refuse(http::make_error_code(http::error::buffer_overflow));
      return;
    }
    stream_->read_some(received_.prepare(room),
                       [self = shared_from_this()](const error_code& error, std::size_t count) {
                         // On error the client has gone, or its time is over.
                         error ? self->serving_.end(*self) : self->on_received(count);
                       });
  }

  void on_received(std::size_t count) {
    received_.commit(count);
    error_code error;
    received_.consume(parser_.put(received_.data(), error));
    if (error == http::error::need_more || (!error && !parser_.is_header_done())) {
      read_more();
    } else if (error) {
      refuse(error);
    } else if (auto request = understand(head_of(parser_.get()))) {
      admit(std::move(*request));
    } else {
      answer(refusal(request.error()), /*head_only=*/false);
    }
  }

  void refuse(const error_code& error) { answer(refusal(status_of(error)), /*head_only=*/false); }

  /// Answers the request if the client is authorized.
  void admit(HttpRequest request) {
    if (!access_ || access_->passwords.empty()) {
      answer(serving_.handler(request), request.head_only);
      return;
    }
    const std::optional<Credentials> credentials = credentials_in(request.authorization);
    if (!credentials) {
      answer(refusal(401), request.head_only);
      return;
    }
    if (access_->passwords.remembers(*credentials)) {
      answer(serving_.handler(request), request.head_only);
      return;
    }
    is_answering_ = true;
    const bool head_only = request.head_only;
    auto checked = [self = shared_from_this(), request = std::move(request),
                    credentials = *credentials](bool are_right) {
      if (are_right) {
        self->access_->passwords.remember(credentials);
      }
      self->answer(are_right ? self->serving_.handler(request) : refusal(401), request.head_only);
    };
    if (!serving_.check(access_, *credentials, std::move(checked))) {
      answer(refusal(503), head_only);
    }
  }

  void answer(HttpResponse response, bool head_only) {
    is_answering_ = true;
    body_ = std::move(response.body);
    const std::size_t length = body_ ? body_->size() : 0;
    http::response_header<> head;
    head.version(11);
    head.result(static_cast<unsigned>(response.status));
    for (const auto& [name, value] : response_headers(response)) {
      head.set(beast::string_view(name.data(), name.size()),
               beast::string_view(value.data(), value.size()));
    }
    head.set(http::field::content_length, std::to_string(length));
    std::ostringstream text;
    text << head;
    head_ = text.str();
    stream_->set_deadline(Clock::now() + serving_.limits.to_answer);
    stream_->write(
        {asio::buffer(head_), body_ && !head_only ? asio::buffer(*body_) : asio::const_buffer()},
        [self = shared_from_this()](const error_code& error, std::size_t) {
          self->on_answered(error);
        });
  }

  void on_answered(const error_code& error) {
    is_answering_ = false;
    body_.reset();
    if (error) {
      serving_.end(*this);
      return;
    }
    linger_until_ = Clock::now() + serving_.limits.linger_time;
    stream_->set_deadline(linger_until_);
    stream_->end_sending([self = shared_from_this()](const error_code& failed, std::size_t) {
      failed ? self->serving_.end(*self) : self->read_away();
    });
  }

  /// A read that finds data does not check the deadline, so without this a client could outlast it
  /// by sending continuously.
  void read_away() {
    if (Clock::now() >= linger_until_) {
      serving_.end(*this);
      return;
    }
    stream_->read_raw(asio::buffer(discarded_),
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                        error ? self->serving_.end(*self) : self->read_away();
                      });
  }

  HttpServing& serving_;
  std::shared_ptr<Access> access_;  ///< null: no restrictions
  std::unique_ptr<HttpStream> stream_;
  beast::flat_static_buffer<kLongestHead> received_;
  http::request_parser<http::empty_body> parser_;
  std::string head_;  ///< of the answer
  std::shared_ptr<const std::string> body_;
  bool is_answering_ = false;
  Clock::time_point linger_until_;
  std::array<char, 4096> discarded_{};
};

namespace {

/// Returns the address and port; an error if the host is a name.
Result<tcp::endpoint> endpoint_of(const ListenAddress& address) {
  error_code error;
  const asio::ip::address parsed = asio::ip::make_address(address.host, error);
  if (error) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is not an IPv4 or IPv6 address", address.host));
  }
  return tcp::endpoint(parsed, address.port);
}

}  // namespace

class HttpListener final : public HttpServer, public HttpServing {
 public:
  HttpListener(HttpLimits of, Handler with, std::shared_ptr<WebAccess> access)
      : HttpServing(of, std::move(with)), access_(std::move(access)) {}

  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;
  ~HttpListener() override {
    if (const auto* acceptor = std::get_if<local::acceptor>(&acceptor_)) {
      error_code error;
      (void)::unlink(acceptor->local_endpoint(error).path().c_str());  // it may be gone by now
    }
  }

  Result<void> open(const tcp::endpoint& endpoint) {
    return open(acceptor_.emplace<tcp::acceptor>(io_), endpoint);
  }

  /// Opens a Unix socket. Any process that has access to its folder may connect, just as every
  /// program on the host may over TCP.
  Result<void> open(const local::endpoint& endpoint) {
    constexpr mode_t kForAll = 0666;
    error_code error;
    local::socket probe(io_);
    probe.connect(endpoint, error);
    if (!error) {
      return cannot_listen(endpoint, asio::error::address_in_use);
    }
    struct stat status {};
    if (error == asio::error::connection_refused && ::stat(endpoint.path().c_str(), &status) == 0 &&
        S_ISSOCK(status.st_mode)) {
      (void)::unlink(
          endpoint.path().c_str());  // left by an earlier run; bind reports any other problem
    }
    auto opened = open(acceptor_.emplace<local::acceptor>(io_), endpoint);
    if (opened) {
      (void)::chmod(endpoint.path().c_str(), kForAll);  // bind has made it
    } else {
      acceptor_.emplace<tcp::acceptor>(io_);  // the path belongs to another program
    }
    return opened;
  }

  [[nodiscard]] std::string url() const override {
    if (const auto* acceptor = std::get_if<local::acceptor>(&acceptor_)) {
      return "unix:" + endpoint_text(acceptor->local_endpoint());
    }
    return fmt::format("{}://{}/", access_ && access_->has_tls() ? "https" : "http",
                       endpoint_text(std::get<tcp::acceptor>(acceptor_).local_endpoint()));
  }

  template <class Acceptor, class Endpoint>
  static Result<void> open(Acceptor& acceptor, const Endpoint& endpoint) {
    error_code error;
    // After an error the remaining calls are skipped.
    const auto then = [&error](auto call) {
      if (!error) {
        call();
      }
    };
    acceptor.open(endpoint.protocol(), error);
    // After a restart, connections of the previous run may still be closing.
    then([&] { acceptor.set_option(asio::socket_base::reuse_address(true), error); });
    // Connections inherit the size from the acceptor (tcp(7)).
    then([&] { acceptor.set_option(asio::socket_base::send_buffer_size(kSendBuffer), error); });
    then([&] { acceptor.bind(endpoint, error); });
    then([&] { acceptor.listen(asio::socket_base::max_listen_connections, error); });
    if (error) {
      return cannot_listen(endpoint, error);
    }
    return {};
  }

  [[nodiscard]] Result<void> run(int stop_fd) override {
    asio::posix::stream_descriptor stop(io_, stop_fd);
    stop.async_wait(asio::posix::stream_descriptor::wait_read,
                    [this](const error_code&) { io_.stop(); });
    accept();
    error_code error;
    try {
      io_.run();
    } catch (const boost::system::system_error& thrown) {
      error = thrown.code();
    }
    (void)stop.release();
    if (error) {
      return failure(ErrorCode::kIo, "cannot wait for connections: " + error.message(),
                     error.value());
    }
    return {};
  }

 private:
  void accept() {
    std::visit([this](auto& acceptor) { accept(acceptor); }, acceptor_);
  }

  template <class Acceptor>
  void accept(Acceptor& acceptor) {
    using Socket = typename Acceptor::protocol_type::socket;
    acceptor.async_accept([this](const error_code& error, Socket socket) {
      // Whatever the error is, the client may still be in the queue, and an immediate retry would
      // fail as well.
      if (error && error != asio::error::connection_aborted) {
        make_room();  // if descriptors are scarce, others may need ours
        retry_.expires_after(kUntilNextTry);
        retry_.async_wait([this](const error_code&) { accept(); });
        return;
      }
      if (!error) {
        serve(std::move(socket));
      }
      accept();
    });
  }

  void serve(HttpStream::Socket socket) {
    if (connections_.size() >= limits.most_connections) {
      make_room();
    }
    connections_.push_back(std::make_shared<HttpConnection>(
        *this, access_ ? access_->now() : nullptr, std::move(socket)));
    const auto connection = connections_.back();
    connection->start();
  }

  bool check(std::shared_ptr<Access> access, Credentials credentials,
             std::function<void(bool)> done) override {
    if (checks_ >= limits.most_connections) {
      return false;
    }
    ++checks_;
    asio::post(checker_, [this, access = std::move(access), credentials = std::move(credentials),
                          done = std::move(done)]() mutable {
      const bool are_right = access->passwords.are_right(credentials);
      asio::post(io_, [this, are_right, done = std::move(done)] {
        --checks_;
        done(are_right);
      });
    });
    return true;
  }

  /// Ends the connection that has kept us waiting longest, preferably one that is not being
  /// answered.
  void make_room() {
    auto victim = std::ranges::find_if(
        connections_, [](const auto& connection) { return !connection->is_answering(); });
    if (victim == connections_.end()) {
      victim = connections_.begin();
    }
    if (victim != connections_.end()) {
      (*victim)->close();  // its pending operations end with an error, after which it is no longer
                           // in the list
      connections_.erase(victim);
    }
  }

  void end(HttpConnection& over) override {
    over.close();
    connections_.remove_if([&over](const auto& connection) { return connection.get() == &over; });
  }

  std::shared_ptr<WebAccess> access_;  ///< null: no restrictions, plain HTTP
  asio::io_context io_{1};             ///< outlives everything that runs on it
  std::variant<tcp::acceptor, local::acceptor> acceptor_{tcp::acceptor(io_)};
  asio::steady_timer retry_{io_};
  std::list<std::shared_ptr<HttpConnection>> connections_;  ///< longest open first
  std::size_t checks_ = 0;        ///< number of password checks in progress
  asio::thread_pool checker_{1};  ///< is destroyed first, together with its pending work
};

Result<ListenAddress> parse_listen_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix) && text.size() > kUnix.size()) {
    return ListenAddress{"", 0, std::string(text.substr(kUnix.size()))};
  }
  const auto colon = text.rfind(':');
  ListenAddress address;
  if (colon != std::string_view::npos) {
    const auto port = whole_number<decltype(address.port)>(text.substr(colon + 1));
    address.port = port.value_or(0);
    address.host = text.substr(0, colon);
    const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
    if (bracketed) {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
    if (port && bracketed == (address.host.find(':') != std::string::npos) &&
        endpoint_of(address)) {
      return address;
    }
  }
  return failure(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not an address to listen at, such as '127.0.0.1:9721', "
                             "'[::1]:9721' or 'unix:/run/web.sock'",
                             text));
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const ListenAddress& address,
                                                       HttpLimits limits, Handler handler,
                                                       std::shared_ptr<WebAccess> access) {
  auto listener = std::make_unique<HttpListener>(limits, std::move(handler), std::move(access));
  Result<void> opened;
  if (address.path.empty()) {
    opened = endpoint_of(address).and_then(
        [&](const tcp::endpoint& endpoint) { return listener->open(endpoint); });
  } else if (address.path.size() >= sizeof(sockaddr_un::sun_path)) {
    opened = failure(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is too long for a Unix socket", address.path));
  } else {
    opened = listener->open(local::endpoint(address.path));
  }
  if (!opened) {
    return tl::unexpected(std::move(opened).error());
  }
  return listener;
}

}  // namespace vmnuma::tools
