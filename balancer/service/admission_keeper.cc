// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/admission_keeper.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "stats/files/file.h"
#include "stats/files/read_parsed.h"

namespace vmnuma::balancer {
namespace {

std::string path_in(const std::string& state_dir) {
  return fmt::format("{}/{}", state_dir, kAdmissionFile);
}

}  // namespace

AdmissionStamp admission_stamp(const std::string& root, std::int64_t now_unix_s) {
  const auto directory = files::Directory::open(root);
  return {now_unix_s, directory ? files::boot_id_of(*directory) : ""};
}

std::vector<StartingVm> read_expected_vms(const std::string& state_dir, const AdmissionStamp& now,
                                          EventLog& log) {
  const std::string path = path_in(state_dir);
  Result<StampedAdmission> read =
      files::read_file(path, kMostAdmissionBytes).and_then(parse_admission);
  if (!read && read.error().code == ErrorCode::kCorrupt) {
    const Result<std::string> aside = files::set_aside(path);
    log.say(Severity::kWarning,
            fmt::format("which VMs are about to start is not known: {}; {}", read.error().message,
                        aside ? fmt::format("'{}' was set aside as '{}'", path, *aside)
                              : aside.error().message));
  }
  if (!read || !read->is_fresh(now)) {
    return {};
  }
  return std::move(read->state.expected);
}

Result<void> write_admission(const std::string& state_dir, const AdmissionState& state,
                             const AdmissionStamp& stamp) {
  return files::replace_file(path_in(state_dir), to_text(state, stamp));
}

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
