// SPDX-License-Identifier: Apache-2.0
/// What the controller remembers of a VM in addition to the ledger's measurements.
///
/// Problem: almost every rule of the controller remembers something about individual VMs (how a VM
/// was pinned externally, why it rests, how it was found), and all of that must go when the VM
/// ends. Approach: one record per VM, created when the first rule has something to remember, and
/// dropped as a whole. The rules are elsewhere; each writes only its own members.
/// Terms: *CPU subset* - the part of its homes that a VM's threads are pinned to (cpu_pins.h); a VM
/// that has the whole of its homes has none. *Left alone* - released, pinned externally, confined
/// (confinement.h), or recovered and its pins not read again yet. *Outdated* - pins made before the
/// VM's clients or the host's CPUs changed.
/// Properties:
///  1. A VM about which nothing is remembered reads as an empty record.
///  2. Forgetting a VM leaves nothing behind.
///  3. A VM that does not run may have a record, because the history reports VMs before libvirt
///     does.
///  4. Repairs of pins are gradually forgotten while no others follow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "balancer/controller/cpu_pins.h"
#include "balancer/controller/originals.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// The rest of a VM after failed actions, longer with every failure.
struct Rest {
  std::int64_t failures = 0;
  std::int64_t until_epoch = 0;
  std::string why;
};

/// An hour, with epochs of two seconds.
inline constexpr std::int64_t kRepairsFade = 1800;
/// The number of epochs after our own last change in which pins as reported by libvirt are not
/// trusted yet.
inline constexpr std::int64_t kSettledAfter = 3;

/// A VM's set of memory nodes being widened back to what it was found with.
struct Widening {
  VmProcess process;
  std::int64_t tries = 0;
  std::int64_t last_try = 0;  ///< epoch
};

struct ManagedVm {
  std::optional<std::string> pinned_by_others;  ///< how
  std::optional<std::string> confined;          ///< by its cgroup: how
  std::optional<std::string> refused_policy;    ///< why the one in its metadata was refused
  std::optional<bool> mask_refused;             ///< mode mask is requested, but not supported here
  std::optional<VmCpus> cpu_subset;
  std::optional<Rest> rest;
  std::optional<Original> original;  ///< how it was found
  std::optional<VmProcess> released;
  std::optional<std::int64_t> outdated_since;  ///< epoch
  std::optional<std::int64_t> settled_since;   ///< epoch in which its last order ended
  std::optional<std::int64_t> recovered_in;  ///< epoch in which its half-made pins were taken back
  std::optional<std::int64_t> repairs;       ///< how often it was recently pinned home again
  std::optional<std::int64_t> repaired_in;   ///< epoch of the last of these
  Widening widening;
  std::map<std::int32_t, NodeId> remembered_homes;  ///< by client, as in the history
  std::map<std::int32_t, std::string> why_here;     ///< by client, a sentence
  bool limit_unkept = false;  ///< its max_per_node cannot be kept, and that was logged
  std::string room_made;      ///< a sentence naming the VMs that were moved for its start, or empty

  [[nodiscard]] bool is_left_alone() const {
    return released || pinned_by_others || confined || recovered_in;
  }
  /// False right after its last order; while one is under way, ClientRecord::moving says so.
  [[nodiscard]] bool is_settled(std::int64_t epoch) const {
    return !settled_since || epoch - *settled_since >= kSettledAfter;
  }
  [[nodiscard]] bool rests_in(std::int64_t epoch) const {
    return rest && rest->until_epoch > epoch;
  }
  /// Marks its pins as outdated, if they are not already.
  void outdate(std::int64_t epoch) { outdated_since = outdated_since.value_or(epoch); }
  /// Counts one more repair of its pins. Returns how many are remembered.
  std::int64_t count_repair(std::int64_t epoch);
  /// Forgets half of the repairs after every kRepairsFade epochs without another one.
  void decay_repairs(std::int64_t epoch);
  void forget_repairs();
  /// Why no plan may touch the VM in this epoch, as a sentence; empty if one may.
  [[nodiscard]] std::string why_left_alone(std::int64_t epoch) const;
  /// The part of its home that the client was given; empty if it has the whole home.
  [[nodiscard]] std::vector<CpuId> cpu_subset_of(std::int32_t client) const;
};

/// Marks the VM so that it is not touched, for this reason; does nothing if the reason is empty.
/// The exception for VMs that could not be read for long (VmState::epochs_stale) then does not
/// apply.
void leave_alone(VmState& vm, std::string why);

class ManagedVms {
 public:
  /// The record for reading; an empty one if there is none.
  [[nodiscard]] const ManagedVm& of(const VmId& vm) const;
  /// The record for writing; created if there is none.
  [[nodiscard]] ManagedVm& operator[](const VmId& vm) { return vms_[vm]; }
  void forget(const VmId& vm) { vms_.erase(vm); }
  [[nodiscard]] std::set<VmId> left_alone() const;

  /// The value of one member, for all VMs that have it.
  template <class T>
  [[nodiscard]] std::map<VmId, T> each(std::optional<T> ManagedVm::*member) const {
    std::map<VmId, T> values;
    for (const auto& [id, vm] : vms_) {
      if (vm.*member) {
        values.emplace_hint(values.end(), id, *(vm.*member));
      }
    }
    return values;
  }
  /// Sets the member for all VMs in `values`, and clears it for all others.
  template <class T>
  void set_each(std::optional<T> ManagedVm::*member, std::map<VmId, T> values) {
    for (auto& [id, vm] : vms_) {
      (vm.*member).reset();
    }
    for (auto& [id, value] : values) {
      vms_[id].*member = std::move(value);
    }
  }
  /// Gets and sets the remembered homes of all clients.
  [[nodiscard]] std::map<ClientId, NodeId> remembered_homes() const;
  void set_remembered_homes(const std::map<ClientId, NodeId>& homes);

 private:
  std::map<VmId, ManagedVm> vms_;
  ManagedVm none_;  ///< stays empty
};

}  // namespace vmnuma::balancer
