// SPDX-License-Identifier: Apache-2.0
/// Counts threads' reads from memory with the CPUs' counters, by perf_event_open(2).
///
/// Problem: how a CPU is asked for its reads from memory differs from model to model, and a table
/// of models is never complete. Approach: the kernel's generic events, of which its drivers know
/// the model's own: PERF_COUNT_HW_CACHE_LL, read, miss - demand reads that the last cache could not
/// answer. Intel's server CPUs have it (Linux 6.1, arch/x86/events/intel/core.c,
/// *_hw_cache_extra_regs), and CPUs of arm64 with the PMUv3 event LL_CACHE_MISS_RD
/// (drivers/perf/arm_pmuv3.c, then arch/arm64/kernel/perf_event.c); AMD's do not since Zen
/// (arch/x86/events/amd/core.c, amd_hw_cache_event_ids_f17h). PERF_COUNT_HW_CACHE_NODE is not used:
/// its "access" is every read from memory on some models of Intel and every read from local memory
/// on others, so that a price made of it would depend on which. Beside that event, in one group so
/// that all are counted at the same times, where the CPU has them: cycles and
/// PERF_COUNT_HW_STALLED_CYCLES_BACKEND (arm64, and Intel's up to Ivy Bridge), which bound what
/// waiting there can have been.
///
/// Everything the thread does is counted, guest and host, user and kernel: no exclude_ bit is set,
/// so that entering a guest costs nothing more than without. Counters are not pinned; those of
/// guests (KVM pins them) and pinned ones of administrators go first, which shows as counted_ns <
/// ran_ns. Prefetched data are not waited for, or less, and are not counted.
///
/// Newer kernels can hand the CPUs' counters over to guests whole ("mediated vPMU",
/// perf_create_mediated_pmu() in kernel/events/core.c; a parameter of kvm_intel and kvm_amd). They
/// refuse to start such a VM while somebody counts what guests do, so nothing is counted where KVM
/// is set to that.
///
/// No machine of ours has such counters: the system calls are tested with events of the kernel's
/// own (PERF_TYPE_SOFTWARE), and what single CPU models count is taken from the sources above.
///
/// Properties:
///  - where nothing can be counted no descriptor is held, and the reason is told once;
///  - a descriptor for each event of each thread, closed with the counter.
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
/// right to trace the thread. Where that is 3 or more, as distributions' kernels know it (Debian's
/// by default), CAP_PERFMON does not suffice.
class PerfCounters final : public ThreadCounters {
 public:
  explicit PerfCounters(PerfEvents events) : events_(events) {}

  [[nodiscard]] Result<std::unique_ptr<ThreadCounter>> count(std::int64_t tid) override;

 private:
  PerfEvents events_;
};

/// KVM is set to hand the CPUs' counters over to guests.
[[nodiscard]] bool hands_counters_over(const files::Directory& root);

/// What can be counted on this machine by whoever calls; `root` is the host's root directory.
/// Errors: unsupported (the CPUs have no such event, or KVM hands its counters over),
/// permission-denied, io; the message says what that is worth.
[[nodiscard]] Result<PerfEvents> find_perf_events(const files::Directory& root);

}  // namespace vmnuma::stats
