// SPDX-License-Identifier: Apache-2.0
/// Counts threads' reads from memory with the CPUs' performance counters, through
/// perf_event_open(2).
///
/// Problem: how to count a CPU's reads from memory differs from model to model, and a table of
/// models is never complete. Approach: use the kernel's generic events, which its drivers map to
/// the model's own: PERF_COUNT_HW_CACHE_LL, read, miss - demand reads that missed the last-level
/// cache. Intel's server CPUs support it (Linux 6.1, arch/x86/events/intel/core.c,
/// *_hw_cache_extra_regs), and CPUs of arm64 with the PMUv3 event LL_CACHE_MISS_RD
/// (drivers/perf/arm_pmuv3.c, then arch/arm64/kernel/perf_event.c); AMD's do not since Zen
/// (arch/x86/events/amd/core.c, amd_hw_cache_event_ids_f17h). PERF_COUNT_HW_CACHE_NODE is not used:
/// its "access" is every read from memory on some Intel models and every read from local memory on
/// others, so a price derived from it would depend on the model. If the CPU has them, cycles and
/// PERF_COUNT_HW_STALLED_CYCLES_BACKEND (arm64, and Intel up to Ivy Bridge) are counted, too; they
/// limit how long the CPU can have waited. All are in one group, so that they are counted at the
/// same times.
///
/// Everything the thread does is counted, guest and host, user and kernel: no exclude_ bit is set,
/// so that entering a guest costs nothing extra. Counters are not pinned; those of guests, which
/// KVM pins, and counters pinned by administrators take precedence, which shows as counted_ns <
/// ran_ns. Prefetched data are not counted, because the CPU waits for them less or not at all.
///
/// Newer kernels can hand all of the CPUs' counters over to guests ("mediated vPMU",
/// perf_create_mediated_pmu() in kernel/events/core.c; a parameter of kvm_intel and kvm_amd). They
/// refuse to start such a VM while any counter counts guests, so nothing is counted if KVM is
/// configured that way.
///
/// None of our machines has such counters: the system calls are tested with the kernel's software
/// events (PERF_TYPE_SOFTWARE), and what individual CPU models count is taken from the sources
/// above.
///
/// Properties:
///  - if nothing can be counted, no descriptor is kept open, and the reason is reported once;
///  - there is one descriptor per event and thread, closed with the counter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "stats/perf/thread_counters.h"

namespace vmnuma::stats {

/// perf_event_attr's type and config (Linux 6.1, include/uapi/linux/perf_event.h).
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  bool operator==(const PerfEvent&) const = default;
};

struct PerfEvents {
  PerfEvent reads;
  struct Cycles {
    PerfEvent all;
    PerfEvent stalled;
    bool operator==(const Cycles&) const = default;
  };
  std::optional<Cycles> cycles = std::nullopt;
  bool operator==(const PerfEvents&) const = default;
};

/// One thread at a time. Needs CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less and the
/// right to trace the thread. If that is 3 or more, a level that only distribution kernels have
/// (Debian's default), CAP_PERFMON is not sufficient.
class PerfCounters final : public ThreadCounters {
 public:
  explicit PerfCounters(PerfEvents events) : events_(events) {}

  [[nodiscard]] Result<std::unique_ptr<ThreadCounter>> count(std::int64_t tid) override;

 private:
  PerfEvents events_;
};

/// Returns whether KVM is configured to hand the CPUs' counters over to guests.
[[nodiscard]] bool hands_over_counters(const files::Directory& root);

/// Finds the events that the calling process can count on this machine; `root` is the host's root
/// directory. Errors: unsupported (the CPUs have no such event, or KVM hands its counters over),
/// permission-denied, io; the message explains the consequence.
[[nodiscard]] Result<PerfEvents> find_perf_events(const files::Directory& root);

}  // namespace vmnuma::stats
