// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_numa_scanner.h"

#include <algorithm>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

namespace {

// kernel/sched/fair.c, Linux 6.1
constexpr std::int64_t kScanDelayUs = 1'000'000;        // sysctl_numa_balancing_scan_delay
constexpr std::int64_t kPortion = 256LL * 1024 * 1024;  // sysctl_numa_balancing_scan_size
constexpr std::int64_t kPeriodMinMs = 1'000;            // sysctl_numa_balancing_scan_period_min
constexpr std::int64_t kPeriodMaxMs = 60'000;           // sysctl_numa_balancing_scan_period_max
constexpr std::int64_t kFloorMs = 100;                  // 1000 / (MAX_SCAN_WINDOW / scan_size)
constexpr std::int64_t kSlots = 10;                     // NUMA_PERIOD_SLOTS
constexpr std::int64_t kThreshold = 7;                  // NUMA_PERIOD_THRESHOLD
constexpr std::int64_t kActiveFraction = 3;             // ACTIVE_NODE_FRACTION
constexpr std::int64_t kFirstPasses = 4;                // should_numa_migrate_memory

constexpr std::int64_t kPortionPages = kPortion / kSimPage.value;

}  // namespace

SimNumaScanner::SimNumaScanner(std::int64_t pages, std::int32_t threads)
    : threads_(threads),
      last_(static_cast<std::size_t>(pages)),
      shortest_ms_(kPeriodMinMs),
      longest_ms_(kPeriodMaxMs),
      period_ms_(kPeriodMinMs),
      wait_us_(kScanDelayUs) {}

std::int64_t SimNumaScanner::pages_due(CpuTime length, CpuTime ran, std::int64_t resident_pages) {
  if (ran <= CpuTime{} || resident_pages == 0) {
    return 0;
  }
  // The threads share all memory: in that many tenths of the faults the last user was another
  // thread.
  const std::int64_t portions =
      std::max<std::int64_t>((resident_pages + kPortionPages - 1) / kPortionPages, 1);
  const std::int64_t sharing = std::max(threads_ - 1, 1);
  shortest_ms_ = std::max(kPeriodMinMs / portions, kFloorMs) * sharing;
  longest_ms_ = std::max(kPeriodMaxMs / portions * sharing, shortest_ms_);
  period_ms_ = std::clamp(passes_ == 0 ? shortest_ms_ : period_ms_, shortest_ms_, longest_ms_);
  // A thread scans after a period of its own run time; the first one to do so scans for all.
  wait_us_ -= std::min(length, ran).value;
  std::int64_t due = 0;
  while (wait_us_ <= 0) {
    wait_us_ += period_ms_ * 1000;
    due += kPortionPages;
  }
  return std::min(due, static_cast<std::int64_t>(last_.size()));
}

std::int64_t SimNumaScanner::next_page() {
  if (position_ == static_cast<std::int64_t>(last_.size())) {
    end_pass();
    return -1;
  }
  return position_++;
}

bool SimNumaScanner::fault(std::int64_t page, std::int32_t thread, NodeIndex from, NodeIndex to,
                           const std::vector<Share>& nodes) {
  LastUse& last = last_[static_cast<std::size_t>(page)];
  const bool first = last.node < 0;
  const bool same_thread = last.thread == thread;
  const bool same_node = last.node == static_cast<std::int8_t>(to);
  last = {static_cast<std::int16_t>(thread), static_cast<std::int8_t>(to)};
  (from == to ? local_ : remote_) += 1;
  private_ += first || same_thread ? 1 : 0;
  if (from == to) {
    return false;
  }
  if (passes_ <= kFirstPasses && (first || same_thread)) {
    return true;
  }
  if (!first && !same_node) {
    return false;
  }
  if (same_thread) {
    return true;
  }
  const Share& there = nodes[to];
  const Share& here = nodes[from];
  return there.run > here.run * kActiveFraction ||
         there.run * here.memory * 3 > here.run * there.memory * 4;
}

void SimNumaScanner::end_pass() {
  const std::int64_t all = local_ + remote_;
  const std::int64_t slot = (period_ms_ + kSlots - 1) / kSlots;
  if (all == 0 || failed_ > 0) {
    period_ms_ *= 2;
  } else {
    const std::int64_t near = local_ * kSlots / all;
    const std::int64_t own = private_ * kSlots / all;
    const std::int64_t ratio = own >= kThreshold ? own : std::max(near, own);
    period_ms_ += ratio >= kThreshold ? std::max<std::int64_t>(ratio - kThreshold, 1) * slot
                                      : -(kThreshold - ratio) * slot;
  }
  period_ms_ = std::clamp(period_ms_, shortest_ms_, longest_ms_);
  local_ = remote_ = private_ = failed_ = 0;
  position_ = 0;
  ++passes_;
}

}  // namespace vmnuma::tools
