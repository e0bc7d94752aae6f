// SPDX-License-Identifier: Apache-2.0
/// Answers commands that change nothing, beside the service's thread.
///
/// Problem: what-if plans for a host with new VMs, explain weighs every move of a VM, and any
/// member of a group may ask for either all the time; an epoch must not wait for them. Approach:
/// the controller is a value, so a copy of it answers on a worker, and the answer is put into words
/// there, too. The copy is the service's, which keeps it until the controller has taken another
/// event: however much is asked, copying costs once per event. One question is answered at a time.
/// What the controller leaves to the host's files is added there as well (device_interrupts.h).
/// Administrators (session_places.h) go first, other users take turns, and each user's questions
/// are answered in their order. Properties:
///  1. The answer is that of the controller as it is when the question's turn comes.
///  2. A user who asks all the time delays another user by one question at most, and an
///     administrator by the one that is being answered.
///  3. No more than kMostWaiting questions wait; one more is refused as busy.
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

  /// The controller as it is now. Called on the service's thread.
  using Copy = std::function<std::shared_ptr<const Controller>()>;
  /// Takes the line that answers. Called on the service's thread.
  using Reply = std::function<void(std::int64_t token, std::string line)>;

  /// `name` is that of the worker's thread and of its place on the board; `root` is the host's root
  /// directory.
  Questions(TaskBoard& board, std::string name, boost::asio::io_context& service, Copy copy,
            Reply reply, std::string root);

  /// Takes one in. The service's thread.
  void ask(std::int64_t token, const Peer& peer, Request question);

 private:
  struct Waiting {
    std::int64_t token = 0;
    Request question;
  };
  struct User {
    bool is_ordinary = false;  ///< administrators come first
    std::uint32_t uid = 0;
    auto operator<=>(const User&) const = default;
  };
  [[nodiscard]] Waiting take_next();
  void answer_next();

  boost::asio::io_context& service_;
  Copy copy_;
  Reply reply_;
  std::string root_;
  std::map<User, std::deque<Waiting>> waiting_;  ///< no user without a question
  std::size_t waiting_count_ = 0;
  User last_;  ///< of the ordinary ones
  bool answering_ = false;
  Worker worker_;  ///< last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
