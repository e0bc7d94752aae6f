// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/admission_file.h"

#include <utility>

#include <fmt/format.h>

#include "stats/files/file.h"

namespace vmnuma::balancer {
namespace {

std::string path_in(const std::string& state_dir) {
  return fmt::format("{}/{}", state_dir, kAdmissionFile);
}

}  // namespace

AdmissionStamp admission_stamp(const std::string& root, std::int64_t now_unix_s) {
  AdmissionStamp stamp{now_unix_s, ""};
  constexpr std::size_t kUuidAndNewline = 64;
  if (const auto id = files::read_file(root + "/proc/sys/kernel/random/boot_id", kUuidAndNewline)) {
    stamp.boot_id = id->substr(0, id->find('\n'));
  }
  return stamp;
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

}  // namespace vmnuma::balancer
