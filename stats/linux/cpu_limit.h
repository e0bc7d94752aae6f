// SPDX-License-Identifier: Apache-2.0
/// The CPU quota of one cgroup and the time it kept the group's threads from running.
///
/// Problem: a thread that waits because its quota is used up looks just like one that waits for a
/// busy CPU, unless its throttled time is known. But reading cpu.stat makes the kernel sum up
/// counters of all CPUs. Approach: read cpu.max now and then; keep cpu.stat open and read it only
/// while there is a quota.
///
/// Properties:
///  - without a quota cpu.stat is not read;
///  - throttled time is counted from when the quota was first seen, and never twice;
///  - an unreadable quota is an error() until it can be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stats/files/directory.h"

namespace vmnuma::stats {

class CpuLimit {
 public:
  /// Reads the quota of the cgroup `group` below `parent`; "" is `parent` itself. A cgroup without
  /// cpu.max (the root, or the cpu controller is off) has none.
  void refresh(const files::Directory& parent, std::string_view group, std::string& scratch);

  /// Microseconds throttled since the last call or since the quota appeared; 0 without a quota.
  [[nodiscard]] std::int64_t throttled_us_since_last(std::string& scratch);

  /// In thousandths of one CPU, as of the last refresh; nothing without a quota.
  [[nodiscard]] std::optional<std::int64_t> quota_permille() const { return quota_permille_; }

  /// Why the last refresh failed or throttled time cannot be read; empty if neither.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::optional<std::int64_t> quota_permille_;
  std::optional<files::KeptFile> cpu_stat_;
  std::int64_t last_throttled_us_ = 0;
  std::string error_;
};

}  // namespace vmnuma::stats
