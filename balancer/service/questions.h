// SPDX-License-Identifier: Apache-2.0
/// Answers commands that change nothing, outside the service's thread.
///
/// Problem: what-if makes plans for a host with new VMs, explain evaluates every move of a VM, and
/// any member of a group may request either all the time; an epoch must not wait for them.
/// Approach: the controller is a value, so a copy of it answers on a worker, and the answer is
/// formatted there, too. The service owns the copy and keeps it until the controller has taken
/// another event: however many questions there are, a copy is made once per event. One question is
/// answered at a time. Data from the host's files that the controller does not have is added there
/// as well (device_interrupts.h). Administrators (session_places.h) go first, other users take
/// turns, and each user's questions are answered in their order. Properties:
///  1. The answer is that of the controller at the time of the question's turn.
///  2. A user who asks all the time delays another user by at most one question, and an
///     administrator only by the one being answered.
///  3. No more than kMostWaiting questions wait; further ones are refused as busy.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "balancer/controller/controller.h"
#include "balancer/protocol/request.h"
#include "balancer/service/session_places.h"
#include "balancer/service/worker.h"

namespace vmnuma::balancer {

class Questions {
 public:
  static constexpr std::size_t kMostWaiting = kMostSessions;

  /// Returns the current controller. Called on the service's thread.
  using Copy = std::function<std::shared_ptr<const Controller>()>;
  /// Receives the answer line. Called on the service's thread.
  using Reply = std::function<void(std::int64_t token, std::string line)>;

  /// `name` is that of the worker's thread and of its place on the board; `root` is the host's root
  /// directory.
  Questions(TaskBoard& board, std::string name, boost::asio::io_context& service, Copy copy,
            Reply reply, std::string root);

  /// Queues a question. The service's thread only.
  void ask(std::int64_t token, const Peer& peer, Request question);

 private:
  struct Waiting {
    std::int64_t token = 0;
    Request question;
  };
  struct User {
    bool is_ordinary = false;  ///< false for administrators, who go first
    std::uint32_t uid = 0;
    auto operator<=>(const User&) const = default;
  };
  [[nodiscard]] Waiting take_next();
  void answer_next();

  boost::asio::io_context& service_;
  Copy copy_;
  Reply reply_;
  std::string root_;
  std::map<User, std::deque<Waiting>> waiting_;  ///< contains no user without a question
  std::size_t waiting_count_ = 0;
  User last_;  ///< the ordinary user served last
  bool answering_ = false;
  Worker worker_;  ///< last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
