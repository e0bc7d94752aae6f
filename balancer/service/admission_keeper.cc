// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/admission_keeper.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "balancer/service/admission_file.h"

namespace vmnuma::balancer {

AdmissionKeeper::AdmissionKeeper(boost::asio::io_context& service, HistoryWorker& disk,
                                 EventLog& log, Place place)
    : service_(service), disk_(disk), log_(log), place_(std::move(place)) {}

void AdmissionKeeper::keep(AdmissionState state) {
  state_ = std::move(state);
  write();
}

void AdmissionKeeper::refresh_if_due(Time now) {
  if (now - written_at_ >= std::chrono::seconds(kAdmissionWrittenEvery_s)) {
    write();
  }
}

void AdmissionKeeper::write() {
  if (state_.nodes.empty()) {
    return;
  }
  written_at_ = std::chrono::steady_clock::now();
  const bool posted = disk_.post("writing", [this, state = state_] {
    const Result<void> written = write_admission(
        place_.state_dir, state, admission_stamp(place_.root, place_.time.wall_unix_s()));
    const std::string problem = written ? std::string() : written.error().message;
    boost::asio::post(service_, [this, problem] {
      if (!std::exchange(has_failed_, !problem.empty()) && has_failed_) {
        log_.say(
            Severity::kWarning,
            fmt::format(
                "the state that the hook needs to decide on starts while the daemon does not run "
                "could not be written: {}; until it can, the hook would decide by the host's files",
                problem));
      }
    });
  });
  (void)posted;  // it will become due again
}

}  // namespace vmnuma::balancer
