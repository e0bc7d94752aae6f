// SPDX-License-Identifier: Apache-2.0
/// A page mover that accounts for the CPU time it uses.
///
/// Problem: finding and copying pages keeps a CPU busy on whatever node the kernel happens to run
/// the thread, and looks like foreign load there. Approach: each call's CPU time is charged to the
/// CPU on which it ends; one call moves a chunk, which takes milliseconds.
///
/// Properties:
///  - calls and answers are those of the wrapped page mover;
///  - times never decrease.
#pragma once

#include <map>
#include <mutex>

#include "migration/page_mover.h"

namespace vmnuma::migration {

class MeteredPageMover final : public PageMover {
 public:
  /// `mover` must outlive it.
  explicit MeteredPageMover(PageMover& mover) : mover_(mover) {}

  [[nodiscard]] Result<void> check(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<MemoryRange>> find_ranges(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<int>> query(const VmProcess& process,
                                               std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] Result<void> reveal(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, Bytes unit) override;
  [[nodiscard]] Result<MoveResult> move(const VmProcess& process,
                                        std::span<const std::uint64_t> addresses, NodeId node,
                                        SharedPages shared) override;
  [[nodiscard]] Result<NodeMemory> node_memory(NodeId node) override;

  /// CPU time of all calls so far (CLOCK_THREAD_CPUTIME_ID), by the CPU on which they ended. Any
  /// thread.
  [[nodiscard]] std::map<CpuId, CpuTime> used() const;

 private:
  class Metered;

  PageMover& mover_;
  mutable std::mutex mutex_;
  std::map<CpuId, CpuTime> used_;
};

}  // namespace vmnuma::migration
