// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/health.h"

#include <set>

#include <fmt/format.h>

namespace vmnuma::balancer {

namespace {

/// The name of the source that is missing when a plan breaks a rule.
constexpr const char* kPlanner = "planner";

}  // namespace

Mode Health::mode(Mode configured) const {
  if (paused_) {
    return Mode::kPaused;
  }
  return missing_.empty() ? configured : Mode::kDegraded;
}

bool Health::reaches_vms(Mode configured) const {
  return configured == Mode::kActive && !missing_.contains("libvirt") &&
         !missing_.contains("executor");
}

void Health::source_changed(const SourceChanged& change, Effects& effects) {
  if (change.reason.empty()) {
    if (missing_.erase(change.source) > 0) {
      effects.say(Severity::kNotice, fmt::format("'{}' works again", change.source));
    }
    return;
  }
  const auto [known, is_new] =
      missing_.try_emplace(change.source, Missing{change.reason, change.wall_unix_s});
  known->second.reason = change.reason;
  if (is_new) {
    effects.say(Severity::kWarning, fmt::format("'{}' is missing: {}, continuing without it",
                                                change.source, change.reason));
  }
}

void Health::sampled(const std::vector<MissingSource>& missing, std::int64_t now_unix_s,
                     Effects& effects) {
  std::set<std::string> unread;
  for (const MissingSource& source : missing) {
    if (!source.vm) {
      unread.insert(source.source);
      source_changed({source.source, source.reason, now_unix_s}, effects);
    }
  }
  std::vector<std::string> back;
  for (const auto& [source, state] : missing_) {
    if (source.starts_with('/') && !unread.contains(source)) {
      back.push_back(source);
    }
  }
  for (const std::string& source : back) {
    source_changed({source, "", now_unix_s}, effects);
  }
}

void Health::planned(std::int64_t epoch, const std::string& violation, std::int64_t now_unix_s,
                     Effects& effects) {
  if (violation.empty()) {
    if (missing_.erase(kPlanner) > 0) {
      effects.say(Severity::kNotice, "plans are sound again");
    }
    return;
  }
  const std::string reason =
      fmt::format("the plan of epoch {} breaks a rule, which is an error in vmnuma itself: {}",
                  epoch, violation);
  const auto [known, is_new] = missing_.try_emplace(kPlanner, Missing{reason, now_unix_s});
  known->second.reason = reason;
  if (is_new) {
    effects.say(Severity::kError,
                reason + "; no part of the plan is carried out, please report this");
  }
}

}  // namespace vmnuma::balancer
