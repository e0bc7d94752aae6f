// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/kernel_scheduling.h"

#include <string>
#include <string_view>

#include "stats/files/read_parsed.h"

namespace vmnuma::stats {

namespace {

constexpr std::string_view kCacheSwitch = "sys/kernel/debug/sched/llc_balancing/enabled";

}  // namespace

std::optional<SchedExt> read_sched_ext(const files::Directory& root) {
  const std::string state = first_line_of(root, "sys/kernel/sched_ext/state");
  if (state.empty() || state == "disabled") {
    return std::nullopt;
  }
  return SchedExt{.name = first_line_of(root, "sys/kernel/sched_ext/root/ops"),
                  .takes_all = first_line_of(root, "sys/kernel/sched_ext/switch_all") != "0"};
}

bool has_cache_scheduling(const files::Directory& root) {
  if (root.read(kCacheSwitch)) {
    return true;
  }
  const std::string release = first_line_of(root, "proc/sys/kernel/osrelease");
  const std::string config = release.find('/') == std::string::npos
                                 ? root.read("boot/config-" + release).value_or("")
                                 : "";
  return config.find("\nCONFIG_SCHED_CACHE=y\n") != std::string::npos;
}

CacheScheduling read_cache_scheduling(const files::Directory& root) {
  const auto text = root.read(kCacheSwitch);
  if (!text) {
    return CacheScheduling::kBuiltIn;
  }
  return text->starts_with('0') || text->starts_with('N') ? CacheScheduling::kOff
                                                          : CacheScheduling::kOn;
}

}  // namespace vmnuma::stats
