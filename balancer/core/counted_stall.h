// SPDX-License-Identifier: Apache-2.0
/// The share of its run time that a VM waits for memory, from what its CPUs counted.
///
/// Problem: what remote memory costs a VM depends on how often it reads memory, and one figure for
/// all VMs of a host (Numa.MemStallPct) is wrong for each of them. Approach: a VM that ran for t
/// and meanwhile made n reads that no cache answered waited for n x L / kReadsAtOnce of t, where L
/// is the duration of a read of local memory, because a core continues while it waits, and several
/// of its reads are in flight at once. If the CPU also counts cycles in which no new work could
/// begin, the VM cannot have waited longer than these. The share refers to the present run time:
/// with memory on distant nodes a VM reads less often in its longer run time, and the product of
/// both is what it loses there (placement/memory_cost.h).
///
/// A reading is doubtful, and not used, if the VM hardly ran meanwhile, or if other users had the
/// counters most of the time. The share moves slowly from reading to reading, so that no decision
/// flaps with it. It is known once a few readings have been taken in, for as long as new ones
/// arrive.
///
/// Properties:
///  1. The share never falls when reads are added, and exceeds neither one nor the share of stalled
///     cycles.
///  2. Repeated equal readings give the same share; one that differs moves it by less than an
///     eighth of the difference a minute.
///  3. Nothing is known before kSureReadings, nor later than kFreshFor after the last one.
#pragma once

#include <cstdint>
#include <optional>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// How many reads of a core are in flight at once while it waits for one: about one and a half for
/// server software (Chou, Spracklen and Abraham, "Store Memory-Level Parallelism Optimizations for
/// Commercial Applications", MICRO 2005), and cores have become wider since. No event that all CPUs
/// count measures it.
inline constexpr std::int64_t kReadsAtOnce = 2;
inline constexpr std::int32_t kSureReadings = 3;
inline constexpr Microseconds kFreshFor{30 * 60 * kMicrosecondsPerSecond};

/// Returns the share from one reading; nothing if it is doubtful. `local_read_ns`: duration of a
/// local read.
[[nodiscard]] std::optional<Permille> stall_from(const MemoryReads& reads,
                                                 std::int64_t local_read_ns);

struct RecordFields;

class CountedStall {
 public:
  /// Processes a reading; a doubtful one changes nothing. `now` never decreases.
  void take_in(const MemoryReads& reads, std::int64_t local_read_ns, Microseconds now);
  /// Returns nothing if the share is not known.
  [[nodiscard]] std::optional<Permille> at(Microseconds now) const;

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  Permille share_;
  std::int32_t readings_ = 0;  ///< how many share_ is made of, at most kSureReadings
  Microseconds read_at_;
};

}  // namespace vmnuma::balancer
