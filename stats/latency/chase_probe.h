// SPDX-License-Identifier: Apache-2.0
/// Reads memory by following pointers: each line says where the next one is, so no read can begin
/// before the one before it has ended, and no prefetcher can guess the way.
///
/// Approach: a few MiB on the node, in huge pages where there are some, threaded into one cycle in
/// a shuffled order. Before a round every line is taken out of all caches (CLFLUSH), so that so
/// small an amount is enough whatever the size of the caches. The calling thread is bound to the
/// CPUs of the node, and is the last to get a CPU (nice 19). Memory is preferred on the node, never
/// forced: where there is none, the kernel takes it elsewhere and this says so, and nobody is
/// killed for it. Properties: a round reads every line once; memory is where it was asked for, or
/// prepare() fails.
#pragma once

#include <cstddef>
#include <memory>

#include "stats/latency/measure.h"

namespace vmnuma::stats {

class ChaseProbe final : public LatencyProbe {
 public:
  ChaseProbe();
  ~ChaseProbe() override;
  ChaseProbe(const ChaseProbe&) = delete;
  ChaseProbe& operator=(const ChaseProbe&) = delete;

  /// From the first call on the thread has these CPUs and that low priority; let a thread of its
  /// own do it.
  [[nodiscard]] Result<void> prepare(const placement::Node& cpus,
                                     placement::NodeId memory) override;
  [[nodiscard]] LatencyRound round() override;

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;  ///< of the last prepare()
};

}  // namespace vmnuma::stats
