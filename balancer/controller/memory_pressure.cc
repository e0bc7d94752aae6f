// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/memory_pressure.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::balancer {

void MemoryPressure::sampled(const Sample& sample, const Options& options, Effects& effects) {
  const auto exceeds = [this](std::int64_t now, std::int64_t most) {
    return is_high_ ? now * 2 > most : now > most;
  };
  const std::int64_t waiting = sample.memory_pressure.value_or(Permille{}).value;
  std::int64_t reclaims = 0;
  if (sample.direct_reclaims && direct_reclaims_) {
    const std::int64_t elapsed_us =
        std::max<std::int64_t>((sample.taken_at - reclaims_read_at_).value, 1'000);
    reclaims = (*sample.direct_reclaims - *direct_reclaims_) * 1'000'000 / elapsed_us;
  }
  direct_reclaims_ = sample.direct_reclaims;
  reclaims_read_at_ = sample.taken_at;
  const bool tasks_wait = exceeds(waiting, options.page_mig_pressure_max * 10);
  const bool is_high = tasks_wait || exceeds(reclaims, options.page_mig_reclaim_max);
  if (is_high == is_high_) {
    return;
  }
  is_high_ = is_high;
  effects.memory_pressure = is_high;
  std::string message = "page migration continues: the memory pressure is over";
  if (tasks_wait) {
    message = fmt::format(
        "page migration is paused: tasks wait for memory {} % of the time (Numa.PageMigPressureMax "
        "is {})",
        waiting / 10, options.page_mig_pressure_max);
  } else if (is_high) {
    message = fmt::format(
        "page migration is paused: tasks have to reclaim memory themselves {} times a second "
        "(Numa.PageMigReclaimMax is {})",
        reclaims, options.page_mig_reclaim_max);
  }
  effects.say(Severity::kNotice, std::move(message));
}

}  // namespace vmnuma::balancer
