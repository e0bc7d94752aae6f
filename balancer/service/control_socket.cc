// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/control_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balancer/protocol/line_buffer.h"
#include "balancer/protocol/response.h"

namespace vmnuma::balancer {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

namespace {

/// The effective user of the peer; nothing if it cannot be determined.
std::optional<Peer> peer_of(int fd) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return std::nullopt;
  }
  return Peer{credentials.uid, credentials.uid == 0 || credentials.uid == geteuid()};
}

tl::unexpected<Error> refusal(const std::string& path, ErrorCode code, std::string_view why,
                              int errno_value) {
  return failure(code, fmt::format("cannot listen at '{}': {}", path, why), errno_value);
}

}  // namespace

/// One connected client.
class ControlSession : public std::enable_shared_from_this<ControlSession> {
 public:
  ControlSession(ControlSocket& owner, std::int64_t number, const Peer& peer,
                 stream_protocol::socket socket)
      : owner_(&owner),
        number_(number),
        peer_(peer),
        socket_(std::move(socket)),
        idle_(socket_.get_executor()),
        lines_(kLongestRequest) {}

  void start() { read(); }

  void write(std::string line) {
    if (owner_ == nullptr) {
      return;
    }
    out_ = std::move(line);
    asked_ = false;
    watch();
    boost::asio::async_write(socket_, boost::asio::buffer(out_),
                             [self = shared_from_this()](const error_code& error, std::size_t) {
                               if (error || self->last_) {
                                 self->close();
                               } else {
                                 self->next_line();
                               }
                             });
  }

  [[nodiscard]] Place place() const {
    return {number_, peer_, asked_ && !has_left() ? std::nullopt : std::optional(last_turn_)};
  }

  void abandon() {
    owner_ = nullptr;
    close();
  }
  /// Closes the session because its place is needed.
  void give_up() { close(); }

 private:
  /// True if the client has closed the connection. Nothing is read while an answer is awaited, so
  /// this must be checked separately. A client that has only finished sending looks the same, and
  /// loses its place if it is needed.
  [[nodiscard]] bool has_left() const {
    char next = 0;
    return ::recv(const_cast<stream_protocol::socket&>(socket_).native_handle(), &next, 1,
                  MSG_PEEK | MSG_DONTWAIT) == 0;
  }

  /// Closes the session if nothing happens for too long.
  void watch() {
    if (owner_ != nullptr) {
      last_turn_ = ++owner_->turns_;
    }
    idle_.expires_after(ControlSocket::kIdleFor);
    idle_.async_wait([weak = weak_from_this()](const error_code& error) {
      if (const auto self = weak.lock(); self && !error) {
        self->close();
      }
    });
  }

  void read() {
    watch();
    socket_.async_read_some(boost::asio::buffer(in_),
                            [self = shared_from_this()](const error_code& error, std::size_t size) {
                              if (error) {
                                self->close();
                              } else {
                                self->take({self->in_.data(), size});
                              }
                            });
  }

  void take(std::string_view bytes) {
    if (Result<void> added = lines_.append(bytes); !added) {
      refuse_ = BadRequest{std::nullopt, std::move(added).error()};
    }
    next_line();
  }

  void next_line() {
    if (owner_ == nullptr) {
      return;
    }
    if (const std::optional<std::string> line = lines_.next_line()) {
      handle(*line);
    } else if (refuse_) {
      last_ = true;
      write(encode_response(*std::exchange(refuse_, std::nullopt)));
    } else {
      read();
    }
  }

  void handle(const std::string& line) {
    const tl::expected<Request, BadRequest> request = parse_request(line);
    if (!request) {
      write(encode_response(request.error()));
      return;
    }
    if (!is_permitted(request->command, peer_.uid, geteuid())) {
      write(encode_response(
          BadRequest{request->id,
                     {ErrorCode::kPermissionDenied, 0,
                      fmt::format("this would change something, which only root may do; you are "
                                  "user {}",
                                  peer_.uid)}}));
      return;
    }
    watch();
    idle_.cancel();  // from now on it waits for the daemon
    asked_ = true;
    owner_->on_request_(number_, peer_, *request);
  }

  void close() {
    idle_.cancel();
    error_code ignored;  // the peer may have closed it already
    socket_.close(ignored);
    if (owner_ != nullptr) {
      std::exchange(owner_, nullptr)->forget(number_);
    }
  }

  ControlSocket* owner_;  ///< null once closed
  std::int64_t number_;
  Peer peer_;
  stream_protocol::socket socket_;
  boost::asio::steady_timer idle_;
  LineBuffer lines_;
  std::array<char, 4096> in_{};
  std::string out_;
  std::optional<BadRequest> refuse_;
  std::int64_t last_turn_ = 0;
  bool asked_ = false;  ///< a request that has not been answered yet
  bool last_ = false;
};

ControlSocket::ControlSocket(boost::asio::io_context& context, std::string path,
                             OnRequest on_request)
    : acceptor_(context),
      retry_(context),
      path_(std::move(path)),
      on_request_(std::move(on_request)) {}

Result<void> ControlSocket::check_place(const std::string& path, const std::string& group) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code unreadable;
  if (!directory.empty() && std::filesystem::status(directory, unreadable).type() ==
                                std::filesystem::file_type::not_found) {
    return refusal(
        path, ErrorCode::kNotFound,
        fmt::format("there is no directory '{}'; vmnumad.service creates the default one; if you "
                    "start vmnumad yourself, create it or choose another path (--socket)",
                    directory.string()),
        ENOENT);
  }
  if (!group.empty() && getgrnam(group.c_str()) == nullptr) {
    return refusal(path, ErrorCode::kInvalidArgument,
                   fmt::format("there is no group '{}' (socket_group); 'systemd-sysusers' makes "
                               "vmnuma's, and with socket_group = \"\" the socket has none",
                               group),
                   0);
  }
  return {};
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(boost::asio::io_context& context,
                                                             const std::string& path,
                                                             const std::string& group,
                                                             OnRequest on_request) {
  const auto refuse = [&](ErrorCode code, std::string_view why, int errno_value) {
    return refusal(path, code, why, errno_value);
  };
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return refuse(ErrorCode::kInvalidArgument, "the path is longer than 107 bytes", 0);
  }
  VMNUMA_RETURN_IF_ERROR(check_place(path, group));
  const stream_protocol::endpoint endpoint(path);
  {
    stream_protocol::socket probe(context);
    error_code error;
    probe.connect(endpoint, error);
    if (!error) {
      return refuse(ErrorCode::kBusy, "another daemon answers there", EADDRINUSE);
    }
    struct stat there {};
    if (error == boost::system::errc::connection_refused && lstat(path.c_str(), &there) == 0 &&
        S_ISSOCK(there.st_mode)) {
      // Left over by a daemon that was killed. If this fails, bind() reports it, as for any other
      // file.
      (void)unlink(path.c_str());
    }
  }
  std::unique_ptr<ControlSocket> self(new ControlSocket(context, path, std::move(on_request)));
  error_code error;
  self->acceptor_.open(endpoint.protocol(), error);
  if (!error) {
    // No other process may connect between bind and chmod.
    const mode_t before = umask(0177);
    self->acceptor_.bind(endpoint, error);
    self->is_bound_ = !error;
    umask(before);
  }
  if (error == boost::system::errc::permission_denied) {
    return refuse(ErrorCode::kPermissionDenied,
                  error.message() +
                      "; start it as root, or with --socket and --state-dir where "
                      "this user may write",
                  error.value());
  }
  if (error) {
    return refuse(ErrorCode::kIo, error.message(), error.value());
  }
  if (const ::group* entry = group.empty() ? nullptr : getgrnam(group.c_str())) {
    if (chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) {
      return refuse(ErrorCode::kPermissionDenied,
                    fmt::format("cannot give it to group '{}': {}", group, std::strerror(errno)),
                    errno);
    }
  }
  if (chmod(path.c_str(), 0660) != 0) {
    return refuse(ErrorCode::kIo, std::strerror(errno), errno);
  }
  self->acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) {
    return refuse(ErrorCode::kIo, error.message(), error.value());
  }
  self->accept();
  return self;
}

ControlSocket::~ControlSocket() {
  retry_.cancel();
  error_code ignored;  // there is nothing to do but close
  acceptor_.close(ignored);
  for (const auto& [number, session] : sessions_) {
    session->abandon();
  }
  if (is_bound_) {
    (void)unlink(path_.c_str());  // may be gone already
  }
}

void ControlSocket::accept() {
  acceptor_.async_accept([this](const error_code& error, stream_protocol::socket socket) {
    if (error == boost::asio::error::operation_aborted) {
      return;
    }
    if (error) {
      // Most likely there are no descriptors left: retrying at once would only waste CPU time.
      retry_.expires_after(std::chrono::seconds(1));
      retry_.async_wait([this](const error_code& cancelled) {
        if (!cancelled) {
          accept();
        }
      });
      return;
    }
    admit(std::move(socket));
    accept();
  });
}

/// Gives the connection a place. Without one, its destructor closes it.
void ControlSocket::admit(stream_protocol::socket socket) {
  const std::optional<Peer> peer = peer_of(socket.native_handle());
  if (!peer) {
    return;
  }
  std::vector<Place> taken;
  taken.reserve(sessions_.size());
  for (const auto& [number, session] : sessions_) {
    taken.push_back(session->place());
  }
  const PlaceFound found = find_place(taken, *peer);
  if (!found.admitted) {
    return;
  }
  if (found.closes) {
    const std::shared_ptr<ControlSession> leaving = sessions_.at(*found.closes);
    leaving->give_up();
  }
  const std::int64_t number = next_session_++;
  const auto session = std::make_shared<ControlSession>(*this, number, *peer, std::move(socket));
  sessions_.emplace(number, session);
  session->start();
}

void ControlSocket::forget(std::int64_t session) {
  sessions_.erase(session);
}

void ControlSocket::answer(std::int64_t token, std::string line) {
  if (const auto session = sessions_.find(token); session != sessions_.end()) {
    session->second->write(std::move(line));
  }
}

}  // namespace vmnuma::balancer
