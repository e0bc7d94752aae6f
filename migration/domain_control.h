// SPDX-License-Identifier: Apache-2.0
/// The port through which the executor changes a VM. Implemented by balancer/host over libvirt and
/// by the simulated host; both pass the same contract tests.
///
/// Problem: libvirt identifies a domain by its UUID, which stays the same when the domain is
/// destroyed and started again. A change meant for the earlier run would reach the current one.
/// Approach: every call names the run, and each changing call compares it with the domain's current
/// id.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "placement/base/names.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"

namespace vmnuma::migration {

/// One run of a domain, from its start to its end. libvirt assigns increasing ids, a new one at
/// each start; the count may go back only when libvirtd itself is restarted.
struct DomainRun {
  VmId vm;
  /// libvirt's id of the running domain. Negative: unknown (the order was journalled by a version
  /// that did not record it) and not compared.
  std::int32_t domain_id = -1;
  bool operator==(const DomainRun&) const = default;
};

/// A thread of a VM, or all threads of its emulator.
struct ThreadId {
  enum class Kind { kVcpu, kEmulator, kIoThread };
  [[nodiscard]] friend constexpr auto names(Kind) {
    return names_in_order<Kind>("vcpu", "emulator", "io-thread");
  }
  Kind kind{};
  std::int32_t number = 0;  ///< vCPU or I/O thread number; 0 for the emulator
  auto operator<=>(const ThreadId&) const = default;
};

/// The thread for people: "vCPU 3", "the emulator", "I/O thread 1".
[[nodiscard]] inline std::string thread_text(ThreadId thread) {
  switch (thread.kind) {
    case ThreadId::Kind::kVcpu:
      return "vCPU " + std::to_string(thread.number);
    case ThreadId::Kind::kEmulator:
      return "the emulator";
    case ThreadId::Kind::kIoThread:
      return "I/O thread " + std::to_string(thread.number);
  }
  return {};
}

/// How to change the set of nodes that a VM's memory may use.
enum class MemoryNodes {
  kSet,    ///< to the given ones; narrowing copies memory before the call returns
  kWiden,  ///< by the given ones, whatever they are at that moment, so that nothing is copied;
           ///< changes nothing if the memory may already use all nodes
};

class DomainControl {
 public:
  virtual ~DomainControl() = default;

  /// Each call changes the running VM only (libvirt's LIVE flag), not its definition, and returns
  /// when the kernel has applied it. `cpus` is ascending and not empty; cpus_to_pin.h says what it
  /// means. Blocking, executor worker only; each pin costs libvirt
  /// an fsync (measured on libvirt 9.0). Errors: not-found (no such running VM, vCPU or I/O
  /// thread), vanished (the VM runs, but this is another run of it, which was left alone unless the
  /// message says that it began during the call), invalid-argument (empty set, a CPU that the host
  /// does not have), permission-denied, unavailable (no connection), busy (a job holds the VM),
  /// unsupported, io.
  [[nodiscard]] virtual Result<void> pin(const DomainRun& run, ThreadId thread,
                                         const std::vector<CpuId>& cpus) = 0;

  /// Changes the nodes the VM's memory may use (libvirt numatune, always with mode `restrictive`,
  /// because a call without a mode makes libvirt record `strict` and refuse every later change).
  /// Only for VMs without <numatune> or with mode restrictive; others: unsupported.
  [[nodiscard]] virtual Result<void> change_memory_nodes(const DomainRun& run,
                                                         const std::vector<NodeId>& nodes,
                                                         MemoryNodes change) = 0;

  /// Checks whether the calls above could be carried out at once. Error: busy, if a job (a dump, a
  /// snapshot, a migration) holds the VM, so that each of them would wait for long and then fail.
  /// Any other problem is left for those calls to report. Blocking.
  [[nodiscard]] virtual Result<void> check_free(const DomainRun& run) = 0;

  /// Makes `settings` the policy in the VM's metadata; if empty, removes the policy. `persistent`:
  /// also in the VM's definition, which is unsupported for a transient VM. Applies to whichever run
  /// exists, because the policy is the administrator's and not tied to a run. Any thread. Errors:
  /// not-found, permission-denied, unavailable, unsupported, io; nothing has changed then.
  [[nodiscard]] virtual Result<void> set_policy(const VmId& vm,
                                                const std::vector<PolicySetting>& settings,
                                                bool persistent) = 0;
};

}  // namespace vmnuma::migration
