// SPDX-License-Identifier: Apache-2.0
/// The running VMs as reported by the host's hypervisors, queried on a thread of its own.
///
/// Properties:
///  - there is one query at a time, followed by another if something changed meanwhile;
///  - while there is no answer, queries are repeated less and less often, and the VMs reported last
///    remain known.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
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

/// For the service's thread, except for what runs on the worker's.
class RunningVms {
 public:
  struct Report {
    std::string problem;        ///< why there was no answer; empty if there was one
    std::vector<VmId> started;  ///< since the previous answer
  };
  /// Called on the service's thread after each answer.
  using OnReport = std::function<void(const Report&)>;

  /// All arguments must outlive this object.
  RunningVms(TaskBoard& board, boost::asio::io_context& service, Host& host, EventLog& log,
             OnReport on_report);

  void refresh();
  /// Queries again if there was no answer and a retry is due, if the worker had no room for the
  /// last query, or if the last query was a minute ago: then a VM that could not be read gets
  /// another chance, and a lost event does no lasting harm.
  void retry_if_due(Backoff::Time now);
  [[nodiscard]] const std::vector<VmDescription>& now() const { return running_; }
  /// VMs that run as well but could not be described yet.
  [[nodiscard]] const std::vector<VmId>& unreadable() const { return unreadable_; }
  /// Queues other work for the thread that queries the host's hypervisors. See Worker::post().
  [[nodiscard]] bool post(std::string doing, std::function<void()> task);

 private:
  void take(Result<std::vector<VmDescription>> running, std::vector<VmId> unreadable);

  boost::asio::io_context& service_;
  Host& host_;
  EventLog& log_;
  OnReport on_report_;
  std::vector<VmDescription> running_;
  std::vector<VmId> unreadable_;
  Backoff backoff_{std::chrono::seconds(2), std::chrono::seconds(30)};
  std::optional<Backoff::Time> asked_at_;  ///< absent before the first query
  bool has_failed_ = false;                ///< the last query failed
  bool is_refused_ = false;                ///< the worker's queue had no room for it
  bool refreshing_ = false;
  bool refresh_again_ = false;
  Worker worker_;  // last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
