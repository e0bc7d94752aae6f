// SPDX-License-Identifier: Apache-2.0
/// Keeps the state that decides on starts in its file (admission_file.h): for the hook while the
/// daemon is not running, and for the next start.
///
/// Properties: the file is written when the state has changed, and periodically so that it stays
/// fresh; a failure to write it is logged once.
#pragma once

#include <chrono>
#include <string>

#include <boost/asio/io_context.hpp>

#include "balancer/controller/admission_state.h"
#include "balancer/service/event_log.h"
#include "balancer/service/history_worker.h"
#include "balancer/service/host_time.h"

namespace vmnuma::balancer {

/// The service's thread only.
class AdmissionKeeper {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Place {
    std::string state_dir;
    std::string root;  ///< the host's root directory
    HostTime time;     ///< of the host
  };

  /// All arguments must outlive this object.
  AdmissionKeeper(boost::asio::io_context& service, HistoryWorker& disk, EventLog& log,
                  Place place);

  void keep(AdmissionState state);
  /// Rewrites the file if that is due; does nothing before the first keep().
  void refresh_if_due(Time now);

 private:
  void write();

  boost::asio::io_context& service_;
  HistoryWorker& disk_;
  EventLog& log_;
  Place place_;
  AdmissionState state_;
  Time written_at_;
  bool has_failed_ = false;  ///< the last write failed
};

}  // namespace vmnuma::balancer
