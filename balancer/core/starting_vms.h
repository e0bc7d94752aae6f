// SPDX-License-Identifier: Apache-2.0
/// VMs that are about to start, and where libvirt was told to start them.
///
/// Problem: libvirt asks where a VM should start without naming the VM, and seconds pass between
/// the answer and the VM's first reading, in which many others may ask. Approach: a VM is
/// *announced* (by libvirt's hook, with its name) and then *asks* (without it); the oldest
/// announcement of the same size that has not asked yet is assumed to be the one. The answer is a
/// *promise*: it counts as a VM that lives there until the VM is seen and has its homes, or is
/// withdrawn, or the promise grows old. A VM that asks without an announcement gets a promise, too;
/// the first VM of its size to appear takes it.
///
/// Properties:
///  - an announcement answers one question at most;
///  - two questions of one size are told apart by their order;
///  - what is never followed up is forgotten;
///  - at most kMostStarting are remembered, the oldest is dropped first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/node_bytes.h"

namespace vmnuma::balancer {

struct RecordFields;

struct StartingVm {
  VmDescription description;     ///< without a name if it was not announced
  bool asks = true;              ///< false: it has asked, or has appeared
  std::int64_t since_epoch = 0;  ///< when it was last announced or asked
  std::vector<NodeId> homes;     ///< by client; empty until it was told
  std::vector<NodeId> nodes;     ///< what libvirt was told
  /// What it was admitted with, or the huge pages of its homes: no other VM gets this memory before
  /// the VM has it. Ordinary memory that was not judged at admission counts by its homes alone.
  std::vector<MemoryOnNode> memory;
  bool appeared = false;
  bool operator==(const StartingVm&) const = default;
};

class StartingVms {
 public:
  static constexpr std::size_t kMostStarting = 256;
  /// libvirt asks right after the announcement, unless another hook takes long.
  static constexpr std::int64_t kAsksWithin = 15;
  /// QEMU takes long to start if it has much memory to allocate.
  static constexpr std::int64_t kStartsWithin = 60;

  /// Announces a VM; a new announcement of the same VM replaces the old one. Without `asks` no
  /// question about it will follow. The reference is valid until the next call.
  StartingVm& announce(const VmDescription& vm, bool asks, std::int64_t epoch);
  void withdraw(const VmId& vm);

  /// Returns the VM of this size that asks; the caller fills in its homes and nodes. The reference
  /// is valid until the next call.
  [[nodiscard]] StartingVm& asking(std::int32_t vcpus, Bytes memory, std::int64_t epoch);

  /// Records that a VM runs from now on. Returns where it was told to start, or nothing if it never
  /// asked.
  [[nodiscard]] std::vector<NodeId> appeared(const VmDescription& vm);

  /// Restores those that were announced before the daemon's start.
  void restore(std::vector<StartingVm> vms) { vms_ = std::move(vms); }
  void forget_older(std::int64_t epoch);

  /// Oldest first.
  [[nodiscard]] const std::vector<StartingVm>& all() const { return vms_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this

  void add(StartingVm vm);

  std::vector<StartingVm> vms_;
  std::uint32_t unnamed_ = 0;
};

}  // namespace vmnuma::balancer
