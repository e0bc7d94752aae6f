// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/cpu_limit.h"

#include <algorithm>
#include <utility>

#include "stats/files/read_parsed.h"
#include "stats/formats/cgroup_formats.h"

namespace vmnuma::stats {

void CpuLimit::refresh(const files::Directory& parent, std::string_view group,
                       std::string& scratch) {
  const std::string prefix = group.empty() ? std::string() : std::string(group) + "/";
  error_.clear();
  const auto quota = read_parsed(parent, prefix + "cpu.max", parse_cpu_max);
  if (!quota && quota.error().code != ErrorCode::kNotFound) {
    error_ = quota.error().message;
    return;
  }
  quota_permille_ = quota ? *quota : std::nullopt;
  if (!quota_permille_) {
    cpu_stat_.reset();
    return;
  }
  if (cpu_stat_) {
    return;
  }
  auto cpu_stat = parent.file(prefix + "cpu.stat");
  if (!cpu_stat) {
    error_ = cpu_stat.error().message;
    return;
  }
  const auto throttled = read_parsed(*cpu_stat, scratch, parse_throttled_us);
  if (!throttled) {
    error_ = throttled.error().message;
    return;
  }
  last_throttled_us_ = *throttled;
  cpu_stat_ = std::move(*cpu_stat);
}

std::int64_t CpuLimit::throttled_us_since_last(std::string& scratch) {
  if (!cpu_stat_) {
    return 0;
  }
  const auto throttled = read_parsed(*cpu_stat_, scratch, parse_throttled_us);
  if (!throttled) {
    error_ = throttled.error().message;
    cpu_stat_.reset();
    return 0;
  }
  return std::max<std::int64_t>(*throttled - std::exchange(last_throttled_us_, *throttled), 0);
}

}  // namespace vmnuma::stats
