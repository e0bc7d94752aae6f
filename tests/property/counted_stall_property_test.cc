// SPDX-License-Identifier: Apache-2.0
/// What balancer/core/counted_stall.h promises, and the price that is made of it.
#include <algorithm>

#include "balancer/core/counted_stall.h"
#include "placement/memory_cost.h"
#include "tests/property/any_host.h"

namespace vmnuma::balancer {
namespace {

using tests::any_draw;
using tests::Draw;

constexpr std::int64_t kSecond = 1'000'000;

/// Also of a VM that hardly ran, and of counters that were shared.
MemoryReads any_reads(Draw& draw) {
  MemoryReads reads;
  reads.counted = CpuTime{draw.up_to(1'000 * kSecond)};
  reads.ran = reads.counted + CpuTime{draw.one_in(3) ? draw.up_to(3'000 * kSecond) : 0};
  reads.count = draw.up_to(20) * reads.counted.value;  // at most 20 million a second
  if (draw.one_in(2)) {
    reads.cycles = reads.counted.value * 3000;
    reads.stalled_cycles = draw.up_to(1000) * reads.cycles / 1000;
  }
  return reads;
}

RC_GTEST_PROP(CountedStallProperty, IsMonotoneInReadsAndNeverMoreThanAllOrThanStalledCycles, ()) {
  Draw draw = any_draw();
  const MemoryReads reads = any_reads(draw);
  MemoryReads more = reads;
  more.count += draw.up_to(1'000'000'000);
  const std::int64_t read_ns = draw.between(40, 400);
  const auto share = stall_from(reads, read_ns);
  const auto larger = stall_from(more, read_ns);
  RC_ASSERT(share.has_value() == larger.has_value());
  if (share) {
    RC_ASSERT(*share >= Permille{0});
    RC_ASSERT(*share <= *larger);
    RC_ASSERT(*larger <= Permille{1000});
    if (reads.cycles > 0) {
      RC_ASSERT(share->value <= reads.stalled_cycles * 1000 / reads.cycles);
    }
  }
}

RC_GTEST_PROP(CountedStallProperty, TheSameLoadHasTheSamePriceAndOthersMoveItSlowly, ()) {
  Draw draw = any_draw();
  const std::int64_t read_ns = draw.between(40, 400);
  const MemoryReads reads = any_reads(draw);
  const auto share = stall_from(reads, read_ns);
  CountedStall stall;
  Microseconds now;
  for (std::int64_t i = draw.between(kSureReadings, 40); i > 0; --i) {
    now.value += draw.between(10, 60) * kSecond;
    stall.take_in(reads, read_ns, now);
  }
  RC_ASSERT(stall.at(now) == share);
  const MemoryReads other = any_reads(draw);
  const auto there = stall_from(other, read_ns);
  now.value += draw.between(10, 60) * kSecond;
  stall.take_in(other, read_ns, now);
  if (share && there) {
    const std::int64_t apart = std::max(*share, *there).value - std::min(*share, *there).value;
    const Permille after = *stall.at(now);
    RC_ASSERT(std::min(*share, *there) <= after && after <= std::max(*share, *there));
    RC_ASSERT(std::max(*share, after).value - std::min(*share, after).value <= apart / 8 + 1);
  }
}

RC_GTEST_PROP(CountedStallProperty, APriceIsWithinBoundsOfTheHostsAndMonotone, ()) {
  Draw draw = any_draw();
  Options options;
  options.mem_stall_pct = draw.up_to(100);
  VmPolicy policy;
  policy.locality_weight_pct = static_cast<std::int32_t>(draw.up_to(1000));
  const Permille counted{draw.up_to(1000)};
  const Permille more{draw.between(counted.value, 1000)};
  const Permille host = stall_of(policy, std::nullopt, options);
  const Permille price = stall_of(policy, counted, options);
  RC_ASSERT(price <= stall_of(policy, more, options));
  RC_ASSERT(price <= Permille{1000});
  RC_ASSERT(price.value <= (host.value + 1) * kMostTimesHost || host == Permille{1000});
  RC_ASSERT(price.value >= host.value / kMostTimesHost - 1 - policy.locality_weight_pct / 100);
}

}  // namespace
}  // namespace vmnuma::balancer
