// SPDX-License-Identifier: Apache-2.0
/// Whether the host is so short of memory that page migration is paused.
///
/// Problem: moving pages needs free pages on the target and memory bandwidth, which must not be
/// taken while tasks wait for memory. Approach: two kernel readings, the share of time in which
/// some task waits for memory and the rate of direct reclaims, are each compared with an option.
/// Properties:
///  1. Pressure is high above Numa.PageMigPressureMax or Numa.PageMigReclaimMax, and ends only at
///     half of both.
///  2. Each change is an effect and is logged; nothing else is.
///  3. A missing reading counts as no pressure.
#pragma once

#include <cstdint>
#include <optional>

#include "balancer/controller/events.h"

namespace vmnuma::balancer {

struct RecordFields;

class MemoryPressure {
 public:
  void sampled(const Sample& sample, const Options& options, Effects& effects);
  [[nodiscard]] bool is_high() const { return is_high_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording contains of this

  std::optional<std::int64_t> direct_reclaims_;  ///< as last read
  Microseconds reclaims_read_at_;
  bool is_high_ = false;
};

}  // namespace vmnuma::balancer
