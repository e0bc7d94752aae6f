// SPDX-License-Identifier: Apache-2.0
/// Keeps the state that decides on starts (balancer/controller/admission_state.h) in a file of the
/// state directory: for the hook while the daemon is not running, and for the next start.
///
/// Properties: the file is written when the state has changed, and periodically so that it stays
/// fresh; a failure to write it is logged once; after a crash there is either the old file or the
/// new one; an unreadable file counts as empty, and one that is not understood is set aside, which
/// is logged; VMs in an old file, or in one from an earlier boot of the host, are ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "balancer/controller/admission_state.h"
#include "balancer/service/event_log.h"
#include "balancer/service/history_worker.h"
#include "balancer/service/host_time.h"

namespace vmnuma::balancer {

/// The current time in seconds and the host's boot id, from its files below `root`; if the boot id
/// cannot be read it is empty, which is never fresh.
[[nodiscard]] AdmissionStamp admission_stamp(const std::string& root, std::int64_t now_unix_s);

/// Reads the VMs that were told where to start before the daemon started, if still valid. Disk I/O.
[[nodiscard]] std::vector<StartingVm> read_expected_vms(const std::string& state_dir,
                                                        const AdmissionStamp& now, EventLog& log);

/// Writes the file. Disk I/O: syncs the file. Errors: permission-denied, no-space, io.
[[nodiscard]] Result<void> write_admission(const std::string& state_dir,
                                           const AdmissionState& state,
                                           const AdmissionStamp& stamp);

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
