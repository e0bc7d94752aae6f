// SPDX-License-Identifier: Apache-2.0
/// Reads the CPU quota of a cgroup and the time for which it kept the group's threads from running.
///
/// Problem: a thread that waits because its quota is used up cannot be distinguished from one that
/// waits for a busy CPU unless its throttled time is known. But reading cpu.stat makes the kernel
/// sum up counters of all CPUs. Approach: read cpu.max occasionally; keep cpu.stat open and read it
/// only while there is a quota.
///
/// Properties:
///  - without a quota cpu.stat is not read;
///  - throttled time is counted from the moment when the quota was first seen, and never twice;
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

  /// Returns the microseconds throttled since the last call or since the quota appeared; 0 without
  /// a quota.
  [[nodiscard]] std::int64_t throttled_us_since_last(std::string& scratch);

  /// In thousandths of one CPU, as of the last refresh; nothing without a quota.
  [[nodiscard]] std::optional<std::int64_t> quota_permille() const { return quota_permille_; }

  /// Returns why the last refresh failed or why throttled time cannot be read; otherwise empty.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::optional<std::int64_t> quota_permille_;
  std::optional<files::KeptFile> cpu_stat_;
  std::int64_t last_throttled_us_ = 0;
  std::string error_;
};

}  // namespace vmnuma::stats
