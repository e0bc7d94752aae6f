// SPDX-License-Identifier: Apache-2.0
/// The control socket: receives commands from local programs and sends the answers.
///
/// Problem: any member of a group may connect, and may send garbage, send nothing, or never read.
/// Approach: one JSON object per line (balancer/protocol); the kernel identifies the peer
/// (SO_PEERCRED, unix(7)). A session handles one line at a time and reads on only after the answer
/// is written. session_places.h decides who gets one of the few places, and who loses theirs to a
/// newcomer.
///
/// Properties:
///  - those of session_places.h;
///  - a session that neither sends nor reads for kIdleFor is closed;
///  - a line over the limit is answered with an error and closes the session;
///  - no client can block the service.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "balancer/protocol/request.h"
#include "balancer/service/session_places.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

class ControlSession;

class ControlSocket {
 public:
  static constexpr std::chrono::seconds kIdleFor{60};

  /// Called on the service's thread for every permitted request. `token` identifies the request
  /// until it is answered.
  using OnRequest =
      std::function<void(std::int64_t token, const Peer& peer, const Request& request)>;

  /// Checks whether a socket with that group could be created at `path`, to the extent that this is
  /// possible without creating it. Errors, with what to do: not-found (no such directory),
  /// invalid-argument (no such group).
  [[nodiscard]] static Result<void> check_place(const std::string& path, const std::string& group);

  /// Listens at `path`, replacing a stale socket. Sets mode 0660 and `group` (if empty, the group
  /// is left as it is). Errors: those of check_place(), busy (another daemon listens there),
  /// invalid-argument (path too long), permission-denied, io.
  [[nodiscard]] static Result<std::unique_ptr<ControlSocket>> listen(
      boost::asio::io_context& context, const std::string& path, const std::string& group,
      OnRequest on_request);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Sends the line that answers a request. It is not an error if the session has closed in the
  /// meantime.
  void answer(std::int64_t token, std::string line);

 private:
  friend class ControlSession;
  ControlSocket(boost::asio::io_context& context, std::string path, OnRequest on_request);
  void accept();
  void admit(boost::asio::local::stream_protocol::socket socket);
  void forget(std::int64_t session);

  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  bool is_bound_ = false;  ///< the file at the path is ours
  std::string path_;
  OnRequest on_request_;
  std::map<std::int64_t, std::shared_ptr<ControlSession>>
      sessions_;  ///< shared, because asynchronous calls outlive them
  std::int64_t next_session_ = 1;
  std::int64_t turns_ = 0;  ///< counts the clients' actions, in place of a clock
};

}  // namespace vmnuma::balancer
