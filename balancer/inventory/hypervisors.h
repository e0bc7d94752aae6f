// SPDX-License-Identifier: Apache-2.0
/// Combines all sources of VMs of a host.
///
/// Problem: a host may have VMs of libvirt and others at once; the layers above want one list and
/// one control. Approach: lists are joined, and each VM belongs to the source that listed it; if
/// two list it, to the first of them. A VM that none has listed yet (the journal of a daemon that
/// died names some) is searched for in all. A source that need not exist on the host, and that has
/// never answered, is retried with each refresh() and not counted as missing until it has answered;
/// that is reported once. Term: *optional*, such a source.
///
/// Properties:
///  - a change of a VM reaches the source that listed it, and no other;
///  - a missing source makes refresh() fail as long as it is missing, because its VMs may still
///    run; an optional one does so only if it has answered once;
///  - the list is in ascending order, without duplicates.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "balancer/inventory/hypervisor.h"

namespace vmnuma::balancer {

class Hypervisors final : public Hypervisor, private migration::DomainControl {
 public:
  struct Source {
    std::unique_ptr<Hypervisor> hypervisor;
    bool is_optional = false;
  };
  /// `sources`: at least one. A VM that several list belongs to the first of them.
  explicit Hypervisors(std::vector<Source> sources);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override;
  [[nodiscard]] std::vector<VmId> unreadable() const override;
  [[nodiscard]] std::vector<std::string> take_notices() override;
  void mark_dirty(const VmId& vm) override;
  [[nodiscard]] migration::DomainControl& control() override { return *this; }

 private:
  /// The source of the VM; null if none has listed it.
  [[nodiscard]] Hypervisor* owner_of(const VmId& vm);
  /// Returns the result of `call` with the control of the VM's source.
  template <class Call>
  [[nodiscard]] Result<void> with_control_of(const VmId& vm, const Call& call);
  [[nodiscard]] Result<void> pin(const migration::DomainRun& run, migration::ThreadId thread,
                                 const std::vector<CpuId>& cpus) override;
  [[nodiscard]] Result<void> change_memory_nodes(const migration::DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 migration::MemoryNodes change) override;
  [[nodiscard]] Result<void> check_free(const migration::DomainRun& run) override;
  [[nodiscard]] Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) override;

  struct Member {
    Source source;
    bool has_answered = false;
    std::string said;  ///< why it was left out, as last reported
  };
  std::vector<Member> members_;  ///< used by refresh(), except for the pointers
  std::vector<std::string> notices_;
  std::mutex mutex_;  ///< guards owners_
  std::map<VmId, std::size_t> owners_;
};

}  // namespace vmnuma::balancer
