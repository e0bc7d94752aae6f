// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/memory_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "stats/files/read_parsed.h"
#include "stats/formats/memory_formats.h"

namespace vmnuma::stats {
namespace {

/// Stands for a protection of "max": more memory than any host has.
constexpr Bytes kEverything{std::int64_t{1} << 62U};

}  // namespace

Result<MemoryLimits> read_memory_limits(const files::Directory& cgroup) {
  MemoryLimits limits;
  for (const auto& [name, target] :
       {std::pair("memory.min", &limits.min), std::pair("memory.low", &limits.low)}) {
    VMNUMA_ASSIGN_OR_RETURN(const auto value, read_parsed(cgroup, name, parse_memory_limit));
    *target = value.value_or(kEverything);
  }
  for (const auto& [name, target] :
       {std::pair("memory.high", &limits.high), std::pair("memory.max", &limits.max)}) {
    VMNUMA_ASSIGN_OR_RETURN(const auto value, read_parsed(cgroup, name, parse_memory_limit));
    *target = value;
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto swap,
                          read_parsed_if_there(cgroup, "memory.swap.max", parse_memory_limit));
  limits.swap_max = swap.value_or(std::nullopt);
  return limits;
}

Result<MemoryState> read_memory_state(const files::Directory& scope,
                                      const files::Directory& process) {
  MemoryState state;
  VMNUMA_ASSIGN_OR_RETURN(auto limits, read_memory_limits(scope));
  state.limits = limits;
  VMNUMA_ASSIGN_OR_RETURN(const auto stat, read_parsed(scope, "memory.stat", parse_memory_stat));
  state.anonymous = stat.anonymous;
  state.shared = stat.shared;
  state.file = std::max(stat.file - stat.shared, Bytes{});
  state.unevictable = stat.unevictable;
  state.huge = stat.huge;
  VMNUMA_ASSIGN_OR_RETURN(const auto swap,
                          read_parsed_if_there(scope, "memory.swap.current", parse_memory_amount));
  state.swap = swap.value_or(Bytes{});
  VMNUMA_ASSIGN_OR_RETURN(const auto waits,
                          read_parsed_if_there(scope, "memory.pressure", parse_memory_waits));
  if (waits) {
    state.waits_some = waits->some;
    state.waits_full = waits->full;
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto adjustment,
                          read_parsed(process, "oom_score_adj", parse_oom_score_adj));
  state.oom_score_adj = adjustment;
  return state;
}

}  // namespace vmnuma::stats
