// SPDX-License-Identifier: Apache-2.0
/// Simulates the kernel's automatic NUMA balancing of one VM's memory, as in Linux 6.1.
///
/// Approach: the scanner unmaps a portion of the VM's memory at a time; the next vCPU that uses one
/// of these pages takes a hinting fault, which records whether the page was near and may move it to
/// the vCPU's node. After each pass over all memory the period between portions is adapted. All
/// constants and rules are those of kernel/sched/fair.c in 6.1: portions of 256 MB
/// (numa_balancing_scan_size), the first one after 1 s (scan_delay); a period of at least 1 s
/// (scan_period_min) divided by the number of resident portions, but no less than 100 ms
/// (task_scan_min, MAX_SCAN_WINDOW), and at most 60 s divided likewise (task_scan_max); all times
/// the number of threads that share the memory (task_scan_start: numa_group). A pass in which less
/// than 70 % of the faults were near shortens it by up to 7 tenths, one with more lengthens it by
/// up to 3 tenths, one without faults or with failed moves doubles it (update_task_scan_period). A
/// page moves to a vCPU that uses it twice in a row, and initially even if no vCPU has used it
/// before. A page that several vCPUs share moves if the last user was on the same node and three
/// quarters of the VM's time per byte there exceed those here (should_numa_migrate_memory). 6.1 has
/// no rate limit for moves (it was removed in 4.20).
///
/// Terms: *portion* - the memory that one scan unmaps. *Pass* - the scans that cover all memory
/// once.
///
/// Properties:
///  - an idle VM is not scanned;
///  - memory that is all near is scanned ever more slowly;
///  - equal calls give equal answers.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/topology.h"

namespace vmnuma::tools {

/// The cost of a hinting fault for the vCPU that takes it: a VM exit for the unmapped page and a
/// fault through get_user_pages. It is assumed, because no value is published for a page of 2 MiB
/// under KVM. Copying a page that moves costs extra.
inline constexpr CpuTime kHintingFault{10};

class SimNumaScanner {
 public:
  /// `threads` share the memory of `pages` simulated pages.
  SimNumaScanner(std::int64_t pages, std::int32_t threads);

  /// Lets time pass in which the threads ran for `ran` in total; returns how many pages to unmap
  /// next.
  [[nodiscard]] std::int64_t pages_due(CpuTime length, CpuTime ran, std::int64_t resident_pages);
  /// Returns the next page to unmap; -1 whenever a pass has ended.
  [[nodiscard]] std::int64_t next_page();

  /// A node's shares of the VM's time and memory.
  struct Share {
    std::int64_t run = 0;
    std::int64_t memory = 0;
  };
  /// Handles the use of an unmapped page of node `from` by a thread on node `to`. Returns whether
  /// the page should move.
  [[nodiscard]] bool fault(std::int64_t page, std::int32_t thread, NodeIndex from, NodeIndex to,
                           const std::vector<Share>& nodes);
  /// Records that the move failed.
  void move_failed() { ++failed_; }

  /// Returns how many passes have ended.
  [[nodiscard]] std::int64_t passes() const { return passes_; }
  [[nodiscard]] std::int64_t period_ms() const { return period_ms_; }

 private:
  void end_pass();

  struct LastUse {
    std::int16_t thread = -1;
    std::int8_t node = -1;
  };
  std::int32_t threads_;
  std::vector<LastUse> last_;
  std::int64_t position_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t shortest_ms_;
  std::int64_t longest_ms_;
  std::int64_t period_ms_;
  std::int64_t wait_us_;  ///< until the next scan
  std::int64_t local_ = 0;
  std::int64_t remote_ = 0;
  std::int64_t private_ = 0;
  std::int64_t failed_ = 0;
};

}  // namespace vmnuma::tools
