// SPDX-License-Identifier: Apache-2.0
/// Dispatches requests from the control socket to the part that answers them.
///
/// Approach: requests that change nothing go to a copy of the controller (questions.h) or to the
/// history; those that change something are events for the controller, or work for the host.
/// Properties:
///  - every request is answered once, unless the daemon ends first;
///  - a part that is too busy refuses as busy, and then nothing was done;
///  - an option that could not be stored for the next start is still in effect until then.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "balancer/protocol/response.h"
#include "balancer/service/control_socket.h"
#include "balancer/service/history_worker.h"
#include "balancer/service/latency_worker.h"
#include "balancer/service/live_controller.h"
#include "balancer/service/questions.h"
#include "balancer/service/running_vms.h"
#include "balancer/service/service_setup.h"

namespace vmnuma::balancer {

/// The service's thread only.
class Requests {
 public:
  /// The parts that answer. All must outlive this object.
  struct Parts {
    boost::asio::io_context& service;
    const ServiceSetup& setup;
    const Topology& topology;
    EventLog& log;
    LiveController& controller;
    HistoryWorker& history;
    RunningVms& vms;
    const LatencyWorker& latencies;
    std::function<void(Effects)> carry_out;  ///< carries out the controller's effects
  };

  explicit Requests(Parts parts);

  /// Accepts requests from now on. Errors: those of ControlSocket::listen().
  [[nodiscard]] Result<void> listen();
  /// Stops accepting and answering requests.
  void close() { socket_.reset(); }
  /// Sends the controller's answer to a command.
  void reply(const Reply& reply);
  /// Writes the policy where the host keeps policies, and logs that; it takes effect when libvirt
  /// reports the change.
  void write_policy(PolicyWrite policy);

 private:
  struct Asked {
    std::int64_t token = 0;  ///< the socket's
    std::int64_t id = 0;     ///< the client's
  };
  using Look = std::function<Result<Answer>(stats::History&)>;

  void take(std::int64_t token, const Peer& peer, const Request& request);
  void change(Asked asked, const Command& command);
  void send(Asked asked, const Result<Answer>& answer);
  [[nodiscard]] Questions::Reply send_line();
  void look_back(Asked asked, Look look);
  void answer_events(Asked asked, const EventsRequest& request);
  void play(Asked asked, const PlayCommand& command);
  void policy_written(const PolicyWrite& policy, const Result<void>& written);
  void keep_option(std::int64_t token, const OptionsSetRequest& request);
  void set_option(std::int64_t token, OptionsSetRequest request, const Result<void>& kept);
  [[nodiscard]] Config config_now() const;

  Parts parts_;
  std::map<std::int64_t, std::int64_t> waiting_;  ///< for the controller's answer: token to id
  std::unique_ptr<ControlSocket> socket_;         ///< null before listen() and after close()
  Questions short_questions_;                     ///< cost: the size of the answer
  Questions long_questions_;                      ///< cost: moves to evaluate, or all state
};

}  // namespace vmnuma::balancer
