// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_thread_counters.h"

namespace vmnuma::tools {

namespace {

const SimVcpu* find_thread(const HostState& host, std::int64_t tid) {
  for (const auto& [id, vm] : host.vms) {
    const std::int64_t vcpu = tid - vm.process.pid - 1;
    if (vcpu >= 0 && vcpu < static_cast<std::int64_t>(vm.vcpus.size())) {
      return &vm.vcpus[static_cast<std::size_t>(vcpu)];
    }
  }
  return nullptr;
}

/// Counts what one thread reads after the counter was created.
class ReadCounter final : public stats::ThreadCounter {
 public:
  ReadCounter(const HostState& host, std::int64_t tid)
      : host_(host), tid_(tid), before_(so_far()) {}

  [[nodiscard]] Result<stats::ThreadCount> read() const override {
    const stats::ThreadCount now = so_far();
    const std::int64_t ran_ns = now.ran_ns - before_.ran_ns;
    return stats::ThreadCount{
        .reads = now.reads - before_.reads, .counted_ns = ran_ns, .ran_ns = ran_ns};
  }

 private:
  /// Returns zero for a thread that has ended; its VM is not queried again.
  [[nodiscard]] stats::ThreadCount so_far() const {
    const SimVcpu* vcpu = find_thread(host_, tid_);
    return vcpu == nullptr
               ? stats::ThreadCount{}
               : stats::ThreadCount{.reads = vcpu->reads, .ran_ns = vcpu->ran_us * 1000};
  }

  const HostState& host_;
  std::int64_t tid_;
  stats::ThreadCount before_;
};

}  // namespace

Result<std::unique_ptr<stats::ThreadCounter>> SimThreadCounters::count(std::int64_t tid) {
  if (find_thread(host_, tid) == nullptr) {
    return failure(ErrorCode::kVanished, "there is no such thread");
  }
  return std::make_unique<ReadCounter>(host_, tid);
}

}  // namespace vmnuma::tools
