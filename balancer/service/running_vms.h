// SPDX-License-Identifier: Apache-2.0
/// Which VMs run, as the host's hypervisors tell; asked on a thread of its own.
///
/// Properties:
///  - it is asked once at a time, and once more if something changed meanwhile;
///  - while it does not answer it is asked again ever less often, and the VMs that it told of last
///    stay known.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "balancer/service/backoff.h"
#include "balancer/service/event_log.h"
#include "balancer/service/host.h"
#include "balancer/service/worker.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// The service's thread, but for what runs on the worker's.
class RunningVms {
 public:
  struct Told {
    std::string problem;                   ///< why there was no answer; empty: there was one
    std::vector<placement::VmId> started;  ///< since the answer before
  };
  /// Called on the service's thread after each answer.
  using OnTold = std::function<void(const Told&)>;

  /// All must outlive this object.
  RunningVms(TaskBoard& board, boost::asio::io_context& service, Host& host, EventLog& log,
             OnTold on_told);

  void refresh();
  /// Asks again if there was no answer and it is time to.
  void retry_if_due(Backoff::Time now);
  [[nodiscard]] const std::vector<placement::VmDescription>& now() const { return running_; }
  /// Something else for the thread that asks the host's hypervisors. As Worker::post().
  [[nodiscard]] bool post(std::string doing, std::function<void()> task);

 private:
  void take(Result<std::vector<placement::VmDescription>> running);

  boost::asio::io_context& service_;
  Host& host_;
  EventLog& log_;
  OnTold on_told_;
  std::vector<placement::VmDescription> running_;
  Backoff backoff_{std::chrono::seconds(2), std::chrono::seconds(30)};
  bool has_failed_ = false;  ///< the last time
  bool refreshing_ = false;
  bool refresh_again_ = false;
  Worker worker_;  // last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
