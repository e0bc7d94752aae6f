// SPDX-License-Identifier: Apache-2.0
/// What the pins of a client's vCPUs, as libvirt tells them, say about where it lives.
///
/// Problem: pins are all that others see and change. They may be ours, an administrator's, or
/// libvirt's own, and they may name CPUs that have gone since they were made. Approach: CPUs that
/// VMs cannot use now say nothing; what is left is compared with whole nodes and with what the
/// client was given. Terms: *given* - the part of its home that a client was pinned to
/// (cpu_pins.h); empty if it has its home whole. *Default pin* - what libvirt binds a vCPU to that
/// has no pin of its own, also one that is plugged later (<vcpu cpuset=>).
/// Properties:
///  1. Pins over every CPU that VMs may use are no pins.
///  2. Beside vCPUs with pins of their own one with the default pin counts as not pinned yet.
///  3. CPUs that go offline, and come back, change nothing for pins over whole nodes.
#pragma once

#include <string>
#include <vector>

#include "balancer/controller/cpu_pins.h"
#include "balancer/core/ledger.h"
#include "placement/model/ids.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

struct PinState {
  enum class Kind {
    kFree,        ///< it may run wherever VMs may
    kOneNode,     ///< on one node as a whole, or on what it was given
    kIncomplete,  ///< the same, but for vCPUs that nobody has pinned yet
    kGone,        ///< only on CPUs that VMs cannot use now
    kOther,
  };
  Kind kind = Kind::kFree;
  placement::NodeId node;  ///< of kOneNode and kIncomplete
};

/// Reads pins on one host.
class PinReader {
 public:
  /// `topology` must outlive it.
  explicit PinReader(const placement::Topology& topology);

  [[nodiscard]] PinState state_of(const VmRecord& vm, const ClientRecord& client,
                                  const std::vector<placement::CpuId>& given) const;

 private:
  struct Pins;
  [[nodiscard]] std::vector<placement::CpuId> usable(
      const std::vector<placement::CpuId>& cpus) const;
  [[nodiscard]] Pins pins_of(const VmRecord& vm, const ClientRecord& client) const;

  const placement::Topology& topology_;
  std::vector<placement::CpuId> every_;  ///< that VMs may use, ascending
};

/// What all vCPUs of the client are pinned to; empty if that is not the same for all.
[[nodiscard]] std::vector<placement::CpuId> common_pin(const VmRecord& vm,
                                                       const ClientRecord& client);

/// How pins differ that are neither on one whole node nor what was given, as a sentence.
[[nodiscard]] std::string differing_pins_text(const std::vector<placement::CpuId>& given);

/// What the VM's threads are pinned to now, as if it had been given to them.
[[nodiscard]] VmCpus pins_as_given(const VmRecord& vm);

}  // namespace vmnuma::balancer
