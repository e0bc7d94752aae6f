// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/metered_page_mover.h"

#include <ctime>

#include <sched.h>

namespace vmnuma::migration {

namespace {

CpuTime used_by_this_thread() {
  timespec now{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);  // cannot fail with this clock
  return {static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000};
}

}  // namespace

/// Accounts for the CPU time of this thread while it exists.
class MeteredPageMover::Metered {
 public:
  explicit Metered(MeteredPageMover& mover) : mover_(mover), begun_at_(used_by_this_thread()) {}
  Metered(const Metered&) = delete;
  Metered& operator=(const Metered&) = delete;
  ~Metered() {
    const CpuTime used = used_by_this_thread() - begun_at_;
    const int cpu = ::sched_getcpu();
    if (cpu >= 0) {
      const std::lock_guard lock(mover_.mutex_);
      mover_.used_[CpuId{cpu}] += used;
    }
  }

 private:
  MeteredPageMover& mover_;
  const CpuTime begun_at_;
};

Result<void> MeteredPageMover::check(const VmProcess& process) {
  const Metered metered(*this);
  return mover_.check(process);
}

Result<std::vector<MemoryRange>> MeteredPageMover::find_ranges(const VmProcess& process) {
  const Metered metered(*this);
  return mover_.find_ranges(process);
}

Result<std::vector<int>> MeteredPageMover::query(const VmProcess& process,
                                                 std::span<const std::uint64_t> addresses) {
  const Metered metered(*this);
  return mover_.query(process, addresses);
}

Result<void> MeteredPageMover::reveal(const VmProcess& process,
                                      std::span<const std::uint64_t> addresses, Bytes unit) {
  const Metered metered(*this);
  return mover_.reveal(process, addresses, unit);
}

Result<MoveResult> MeteredPageMover::move(const VmProcess& process,
                                          std::span<const std::uint64_t> addresses, NodeId node,
                                          SharedPages shared) {
  const Metered metered(*this);
  return mover_.move(process, addresses, node, shared);
}

Result<NodeMemory> MeteredPageMover::node_memory(NodeId node) {
  const Metered metered(*this);
  return mover_.node_memory(node);
}

std::map<CpuId, CpuTime> MeteredPageMover::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace vmnuma::migration
