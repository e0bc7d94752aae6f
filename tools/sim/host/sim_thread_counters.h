// SPDX-License-Identifier: Apache-2.0
/// Performance counters of the threads of a simulated host: reads from memory per vCPU.
#pragma once

#include <cstdint>
#include <memory>

#include "stats/perf/thread_counters.h"
#include "tools/sim/host/host_state.h"

namespace vmnuma::tools {

class SimThreadCounters final : public stats::ThreadCounters {
 public:
  /// `host` must outlive it and all its counters.
  explicit SimThreadCounters(const HostState& host) : host_(host) {}

  /// Error: vanished.
  [[nodiscard]] Result<std::unique_ptr<stats::ThreadCounter>> count(std::int64_t tid) override;

 private:
  const HostState& host_;
};

}  // namespace vmnuma::tools
