// SPDX-License-Identifier: Apache-2.0
/// VMs that are about to start: whether they may, where, and what they are promised.
///
/// Problem: libvirt's hook announces a VM before it runs, libvirt asks where to start it, and
/// meanwhile other VMs must not get what it was promised. Approach: a VM that was told where to
/// start (core/starting_vms.h) counts in every answer as if it lived there. The state that decides
/// on starts is also exported, for decisions without the daemon. Terms: *admission* - whether a VM
/// fits, if its policy demands that; it is refused only if refuses_starts(). Properties:
///  1. Before an epoch was measured no VM is refused for lack of resources.
///  2. What was promised to a VM is not available to others until it has it, is withdrawn or is
///     forgotten.
///  3. The last eight VMs that were not admitted are remembered, each with its last reason.
///  4. The largest VM shown as able to start now would itself be admitted.
///  5. Reserved room is free for the VM that it is for, and only that VM is directed there.
///  6. The exported state is updated when it has changed, which is checked every fifth epoch and
///     whenever a VM was told where to start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/controller/guarantees.h"
#include "balancer/core/ledger.h"
#include "balancer/core/reservations.h"
#include "balancer/core/starting_vms.h"
#include "balancer/model/view.h"
#include "placement/admission.h"
#include "placement/arrangement.h"

namespace vmnuma::balancer {

struct RecordFields;

/// True if VMs that do not fit are prevented from starting: in active mode, if admission is
/// `enforce`.
[[nodiscard]] bool refuses_starts(const Settings& settings);

/// Checks that there was an epoch. Error: busy.
[[nodiscard]] Result<void> check_is_measured(const Snapshot& snapshot);

/// The basis for judging a start. All of it must outlive the call.
struct HostNow {
  const Settings& settings;
  const Ledger& ledger;
  Snapshot snapshot;                   ///< the last epoch, with the homes given since
  NodeIndex last_placed_on = kNoNode;  ///< updated with every answer
  std::int64_t wall_unix_s = 0;
  Reservations reservations = {};  ///< those that `snapshot` accounts for

  /// Makes the VM's own reservations free for it from now on. Returns their nodes.
  std::vector<NodeIndex> open_reservations_for(const VmDescription& vm);
};

/// The room that was found for a reservation.
struct RoomFound {
  std::vector<NodeId> homes;  ///< by client
  std::vector<MemoryOnNode> memory;
};

class Starts {
 public:
  explicit Starts(std::vector<StartingVm> expected) { starting_.restore(std::move(expected)); }

  [[nodiscard]] const StartingVms& starting() const { return starting_; }
  [[nodiscard]] const std::vector<NotAdmittedView>& not_admitted() const { return not_admitted_; }

  /// Called for a VM that finds no room, with its effective policy and the reason. If it returns an
  /// answer, the VM does not start yet, and nothing is promised or recorded; otherwise it may have
  /// extended `why`.
  using MayWait = std::function<std::optional<AnnouncedView>(
      const HostNow& now, const VmDescription& vm, std::string& why)>;
  /// Answers the announcement of a VM. A StartNotAdmitted that this adds to the effects has no
  /// number yet.
  [[nodiscard]] Result<AnnouncedView> announce(HostNow& now, const AnnounceRequest& request,
                                               const MayWait& may_wait, Effects& effects);
  [[nodiscard]] Result<DoneView> withdraw(const WithdrawRequest& request);
  [[nodiscard]] Result<SuggestView> suggest(HostNow& now, const SuggestRequest& request,
                                            Effects& effects);
  /// To be called when the VM runs. Returns where it was told to start, or nothing if it never
  /// asked.
  [[nodiscard]] std::vector<NodeId> appeared(const VmDescription& vm) {
    return starting_.appeared(vm);
  }
  /// Finds room for such a VM on the smallest number of nodes that could ever hold it. Error:
  /// no-space.
  [[nodiscard]] Result<RoomFound> room_for(HostNow& now, const VmDescription& vm) const;
  /// Forgets VMs that have a home: from now on they count without this.
  void forget_started(const Ledger& ledger, std::int64_t epoch);

  /// Adds what VMs were promised on each node, and the pools of huge pages, to the view.
  void show_promises(const HostNow& now, HostView& view) const;
  /// What is free, for every page size, for a VM that is about to start and is guaranteed nothing.
  /// Requires a measured epoch.
  [[nodiscard]] FreeForVm free_for_any(const HostNow& now) const;
  /// Adds the largest VM that would start now on each node; to be called after show_promises().
  void show_largest(const HostNow& now, HostView& view) const;
  /// The largest VM that would start now on the host.
  [[nodiscard]] LargestVmView largest_vm(const HostNow& now) const;
  /// True if report_admission() should be called in this epoch.
  [[nodiscard]] bool admission_is_due(const Settings& settings, std::int64_t epoch) const;
  void report_admission(const HostNow& now, Effects& effects);

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording contains of this

  [[nodiscard]] Snapshot with_starting_vms(const HostNow& now) const;
  [[nodiscard]] Bytes promised_on(NodeId node, Bytes page_size, const Snapshot& snapshot) const;
  /// Memory promised to VMs on their homes, by node and page size.
  [[nodiscard]] std::vector<std::map<Bytes, Bytes>> promised_at_homes(
      const HostNow& now, const Snapshot& with_starting) const;
  [[nodiscard]] Guarantees guarantees(const HostNow& now) const {
    return {now.settings, now.ledger, starting_};
  }
  [[nodiscard]] FreeForVm free_for(const HostNow& now, const VmDescription& vm,
                                   const Arrangement& arrangement,
                                   const AnnounceRequest& request) const;
  [[nodiscard]] VmAdmission admit(const HostNow& now, const VmDescription& vm,
                                  const Snapshot& snapshot, const std::vector<NodeIndex>& reserved,
                                  const AnnounceRequest& request) const;
  void record_not_admitted(const HostNow& now, const VmDescription& vm, const std::string& why,
                           Effects& effects);
  [[nodiscard]] AdmissionState admission_state(const HostNow& now) const;

  StartingVms starting_;
  std::vector<NotAdmittedView> not_admitted_;  ///< newest last
  AdmissionState reported_;                    ///< as last exported
};

}  // namespace vmnuma::balancer
