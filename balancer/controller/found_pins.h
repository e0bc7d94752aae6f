// SPDX-License-Identifier: Apache-2.0
/// What the pins of a client's vCPUs, as libvirt reports them, show about where it lives.
///
/// Problem: pins are all that others see and change. They may be ours, an administrator's, or
/// libvirt's own, and may include CPUs that have since gone. Approach: CPUs that VMs cannot use now
/// are ignored; the rest is compared with whole nodes and with what the client was given. Terms:
/// *given* - the part of its home that a client was pinned to (cpu_pins.h); empty if it has the
/// whole home. *Default pin* - the set that libvirt binds a vCPU to if it has no pin of its own,
/// including one hot-plugged later (<vcpu cpuset=>).
/// Properties:
///  1. Pins to all CPUs that VMs may use count as no pins.
///  2. If other vCPUs have pins of their own, a vCPU with the default pin counts as not pinned yet.
///  3. Pins to the CPUs that libvirt was advised for the VM, as restored by a release, count as no
///     pins, unless these are one whole node or what the client was given.
///  4. CPUs that go offline, or come back, do not affect pins to whole nodes.
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
    kOneNode,     ///< pinned to one whole node, or to what it was given
    kIncomplete,  ///< the same, except for vCPUs that have not been pinned yet
    kGone,        ///< pinned only to CPUs that VMs cannot use now
    kOther,
  };
  Kind kind = Kind::kFree;
  NodeId node;  ///< of kOneNode and kIncomplete
};

/// Interprets pins on one host.
class PinReader {
 public:
  /// `topology` must outlive it.
  explicit PinReader(const Topology& topology);

  [[nodiscard]] PinState state_of(const VmRecord& vm, const ClientRecord& client,
                                  const std::vector<CpuId>& given) const;

 private:
  struct Pins;
  [[nodiscard]] std::vector<CpuId> usable(const std::vector<CpuId>& cpus) const;
  /// `part`: the usable CPUs of what the client was given.
  [[nodiscard]] Pins pins_of(const VmRecord& vm, const ClientRecord& client,
                             const std::vector<CpuId>& part) const;

  const Topology& topology_;
  std::vector<CpuId> every_;  ///< all CPUs that VMs may use, ascending
};

/// The CPUs that all vCPUs of the client are pinned to; empty if their pins differ.
[[nodiscard]] std::vector<CpuId> common_pin(const VmRecord& vm, const ClientRecord& client);

/// Describes pins that match neither one whole node nor what was given, as a sentence.
[[nodiscard]] std::string differing_pins_text(const std::vector<CpuId>& given);

/// The current pins of the VM's threads, in the form of CPUs given to it.
[[nodiscard]] VmCpus pins_as_given(const VmRecord& vm);

}  // namespace vmnuma::balancer
