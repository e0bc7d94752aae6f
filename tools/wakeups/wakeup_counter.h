// SPDX-License-Identifier: Apache-2.0
/// User-space side of the BPF program that counts wake-ups between VMs: loads it, passes the VMs to
/// it, reads the counts.
///
/// Problem: the best sign that VMs communicate is that their threads wake each other, which only
/// the kernel sees. Approach: wakeups.bpf.c counts in the kernel; this class fills one of its maps
/// and reads the other, at the caller's pace. The BPF program is embedded in the executable, and
/// libbpf adapts it to the running kernel by means of that kernel's type information (BTF).
///
/// Terms: VMs and pairs as in wakeups.bpf.c.
///
/// Properties:
///  - it needs CAP_BPF and CAP_PERFMON and nothing else;
///  - nothing stays in the kernel when the object or the process is gone;
///  - a process that is no longer a VM is forgotten with all its pairs.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "placement/base/result.h"
#include "stats/linux/wakeup_counts.h"

// libbpf's names.
struct bpf_link;
struct bpf_object;

namespace vmnuma::tools {

/// One thread at a time.
class WakeupCounter {
 public:
  /// Limits; see wakeups.bpf.c. Pairs beyond the limit are not counted.
  static constexpr std::size_t kMostVms = 4096;
  static constexpr std::size_t kMostPairs = 65536;

  /// Loads the program and starts counting, at first for no VM. Errors: unsupported (no BTF, or the
  /// kernel rejects the program), permission-denied.
  [[nodiscard]] static Result<WakeupCounter> load();

  /// Returns false if the kernel does not let programs detect interrupts: a wake-up in an interrupt
  /// then counts for the interrupted thread.
  [[nodiscard]] bool reports_interrupts() const { return reports_interrupts_; }

  /// Sets the VMs that are counted from now on. Errors: no-space (more than kMostVms: only those
  /// that fit are counted), io.
  [[nodiscard]] Result<void> set_vms(const std::set<std::uint32_t>& pids);

  /// Returns the counts so far, by a, b, and forgets pairs of which one process is no longer a VM.
  /// Error: io.
  [[nodiscard]] Result<std::vector<stats::PidWakeups>> read();

 private:
  struct Close {
    void operator()(bpf_object* object) const;
    void operator()(bpf_link* link) const;
  };
  /// Returns a variant of wakeups.bpf.c and its size.
  using ElfBytes = const void* (*)(std::size_t* size);

  WakeupCounter() = default;
  [[nodiscard]] static Result<WakeupCounter> load(ElfBytes bytes_of, bool reports_interrupts);

  std::unique_ptr<bpf_object, Close> object_;  ///< program and maps
  std::unique_ptr<bpf_link, Close> link_;      ///< the program's attachment to the tracepoint
  int vms_map_ = -1;                           ///< the object's
  int pairs_map_ = -1;                         ///< likewise
  bool reports_interrupts_ = false;
  std::set<std::uint32_t> vms_;
};

}  // namespace vmnuma::tools
