// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/counted_stall.h"

#include <algorithm>

#include "balancer/core/averages.h"

namespace vmnuma::balancer {

namespace {

constexpr Permille kAll{1000};
/// A VM that ran for less gives little information, and has little to lose.
constexpr CpuTime kLeastRunTime{kMicrosecondsPerSecond};
/// The counters must have counted during at least this fraction of its run time: 1 / kMostShared.
constexpr std::int64_t kMostShared = 4;
constexpr CpuTime kHalfLife{5 * 60 * kMicrosecondsPerSecond};

}  // namespace

std::optional<Permille> stall_from(const MemoryReads& reads, std::int64_t local_read_ns) {
  if (reads.counted < kLeastRunTime || reads.counted * kMostShared < reads.ran) {
    return std::nullopt;
  }
  // Thousandths: nanoseconds of waiting per microsecond of run time.
  const Permille waits =
      scaled(Permille{reads.count}, local_read_ns, reads.counted.value * kReadsAtOnce);
  const Permille stalled = permille_of(reads.stalled_cycles, reads.cycles, kAll);
  return std::min({waits, stalled, kAll});
}

void CountedStall::take_in(const MemoryReads& reads, std::int64_t local_read_ns, Microseconds now) {
  const std::optional<Permille> share = stall_from(reads, local_read_ns);
  if (!share) {
    return;
  }
  const Microseconds passed = now - read_at_;
  if (passed > kFreshFor) {
    readings_ = 0;
  }
  share_ = readings_ == 0 ? *share : averaged(share_, *share, CpuTime{passed.value}, kHalfLife);
  readings_ = readings_ < kSureReadings ? readings_ + 1 : kSureReadings;
  read_at_ = now;
}

std::optional<Permille> CountedStall::at(Microseconds now) const {
  const bool is_known = readings_ == kSureReadings && now - read_at_ <= kFreshFor;
  return is_known ? std::optional(share_) : std::nullopt;
}

}  // namespace vmnuma::balancer
