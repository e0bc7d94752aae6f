// SPDX-License-Identifier: Apache-2.0
/// Reads memory by following pointers: each line points to the next, so no read can begin before
/// the previous one has ended, and no prefetcher can guess the path.
///
/// Approach: a few MiB of the node's memory, in huge pages if available, are linked into one cycle
/// in shuffled order. Before a round every line is flushed from all caches (CLFLUSH), so a small
/// amount of memory is enough for any cache size. The calling thread is bound to the CPUs of the
/// node and has the lowest priority (nice 19). The memory policy is "preferred", not "bind": if the
/// node has no free memory, the kernel allocates elsewhere, which is detected and reported, and no
/// process is killed.
///
/// Properties:
///  - a round reads every line once;
///  - the memory is on the requested node, or prepare() fails.
#pragma once

#include <memory>

#include "stats/latency/measure.h"

namespace vmnuma::stats {

class ChaseProbe final : public LatencyProbe {
 public:
  ChaseProbe();
  ~ChaseProbe() override;
  ChaseProbe(const ChaseProbe&) = delete;
  ChaseProbe& operator=(const ChaseProbe&) = delete;

  /// From the first call on, the calling thread keeps these CPUs and the low priority; use a
  /// dedicated thread.
  [[nodiscard]] Result<void> prepare(const Node& cpus, NodeId memory) override;
  [[nodiscard]] LatencyRound round() override;

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;  ///< of the last prepare()
};

}  // namespace vmnuma::stats
