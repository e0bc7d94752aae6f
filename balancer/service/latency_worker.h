// SPDX-License-Identifier: Apache-2.0
/// Determines the latencies of the host's memory when due (latency_schedule.h), on a thread of its
/// own, which is bound to one node after the other.
///
/// Property: results are logged if they are new.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "balancer/service/event_log.h"
#include "balancer/service/host.h"
#include "balancer/service/known_latencies.h"
#include "balancer/service/latency_schedule.h"
#include "balancer/service/worker.h"

namespace vmnuma::balancer {

/// The service's thread only.
class LatencyWorker {
 public:
  /// `on_found` is called on the service's thread. All arguments must outlive this object.
  LatencyWorker(TaskBoard& board, boost::asio::io_context& service, Host& host, EventLog& log,
                std::string state_dir, std::function<void()> on_found);

  void find(const Topology& topology);
  void find_if_due(const Topology& topology, Backoff::Time now);
  /// The latest results.
  [[nodiscard]] const stats::HostLatencies& found() const { return found_; }
  /// Ends a measurement early.
  void stop() { stopping_ = true; }

 private:
  void take(FoundLatencies found);

  boost::asio::io_context& service_;
  Host& host_;
  EventLog& log_;
  std::string state_dir_;
  std::function<void()> on_found_;
  stats::HostLatencies found_;
  KnownLatencies known_;
  LatencySchedule schedule_;
  std::string last_logged_;
  std::atomic<bool> stopping_ = false;
  Worker worker_;  // last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
