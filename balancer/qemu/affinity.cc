// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/affinity.h"

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "stats/files/file_descriptor.h"

namespace vmnuma::balancer::qemu {
namespace {

/// Has room for Linux's maximum number of CPUs (NR_CPUS, 8192).
using Mask = std::array<cpu_set_t, 8>;
constexpr std::size_t kMostCpus = sizeof(Mask) * 8;

}  // namespace

Result<std::vector<CpuId>> affinity_of(std::int64_t tid) {
  Mask mask{};
  if (::sched_getaffinity(static_cast<pid_t>(tid), sizeof(mask), mask.data()) != 0) {
    return tl::unexpected(
        files::system_error(errno, fmt::format("cannot read the CPUs of thread {}", tid)));
  }
  std::vector<CpuId> cpus;
  for (std::size_t cpu = 0; cpu < kMostCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof(mask), mask.data())) {
      cpus.push_back({static_cast<std::int32_t>(cpu)});
    }
  }
  return cpus;
}

Result<void> set_affinity(std::int64_t tid, const std::vector<CpuId>& cpus) {
  Mask mask{};
  for (const CpuId cpu : cpus) {
    if (cpu.value >= 0 && static_cast<std::size_t>(cpu.value) < kMostCpus) {
      CPU_SET_S(static_cast<std::size_t>(cpu.value), sizeof(mask), mask.data());
    }
  }
  if (::sched_setaffinity(static_cast<pid_t>(tid), sizeof(mask), mask.data()) == 0) {
    return {};
  }
  Error error = files::system_error(errno, fmt::format("cannot set the CPUs of thread {}", tid));
  if (error.errno_value == EINVAL) {
    error.code = ErrorCode::kInvalidArgument;
  }
  return tl::unexpected(std::move(error));
}

}  // namespace vmnuma::balancer::qemu
