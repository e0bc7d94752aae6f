// SPDX-License-Identifier: Apache-2.0
/// Room that is kept for VMs that do not run yet.
///
/// Problem: an administrator who plans to start a VM, or expects one from another host, has to be
/// sure that its room will still be there. Approach: a *reservation* is memory of nodes, by page
/// size. For all VMs except those that it is for, it counts as memory that these nodes keep free
/// (NodeState::reserve, NodeState::reservations). So everything that respects the reserve respects
/// it: admission, first homes, moves, and what is reported to others. Its vCPUs count as those of a
/// VM that was told to start there (controller/starts.h).
/// Terms: a reservation *is for* VMs of a name, group or owner; a VM *takes it up* when it begins
/// to run, and counts by itself from then on; a *shared* one is room for all VMs that it is for
/// together: what a VM has taken of it *comes back* when that VM stops.
///
/// Properties:
///  - without reservations a snapshot stays as it is, and once they are gone it is as before;
///  - none is for a VM of another name, group and owner;
///  - a VM takes up no more than its own memory, of each page size by itself, and takes an even
///    share of it on each node where it was told to start before anything elsewhere; a reservation
///    that is for this VM by name ends with that, unless it is shared;
///  - a VM takes up what is for it once, as long as it runs; one that ran before the reservation
///    was made takes nothing;
///  - of a shared one, what is left and what running VMs have taken are together what was reserved
///    at first, on each node, of each page size and of vCPUs. So what comes back is kept where it
///    was reserved; if the VM had been moved from there and others have filled the node, it is what
///    becomes free there next;
///  - a shared one does not end by being taken up, even if nothing is left of it;
///  - it expires at the time that was set for it, not before; one that was made for a duration
///    lasts that long, even if the wall clock is set meanwhile;
///  - for every plan its memory counts as taken, and no VM is moved or stopped to make room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/core/starting_vms.h"
#include "placement/base/names.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

struct RecordFields;

/// What may happen to a reservation.
enum class ReservationStep { kReserved, kTakenUp, kCameBack, kExpired, kGivenUp };
[[nodiscard]] constexpr auto names(ReservationStep) {
  return names_in_order<ReservationStep>("reserved", "taken-up", "came-back", "expired",
                                         "given-up");
}

/// What a running VM has taken of a shared reservation.
struct SharedPart {
  VmId vm;
  std::string name;  ///< of the VM
  std::int32_t vcpus = 0;
  std::vector<MemoryOnNode> memory;
  bool operator==(const SharedPart&) const = default;
};

struct Reservation {
  std::string name;           ///< not empty
  std::string vm;             ///< it is for the VM of this name; empty: for none
  std::optional<VmId> vm_id;  ///< or of this UUID
  std::string group;  ///< or for those of this affinity or anti-affinity group; empty: for none
  std::int32_t vcpus = 0;                    ///< what is left
  std::vector<NodeId> homes;                 ///< of its vCPUs, by client as of a VM
  std::vector<MemoryOnNode> memory;          ///< what is left
  std::optional<std::int64_t> until_unix_s;  ///< absent: until it is given up
  /// Running VMs that it is for but that take nothing any more: they have taken their part, or ran
  /// before it was made.
  std::vector<VmId> served;
  std::string owner;  ///< or it is for the VMs of this owner; empty: for none
  bool shared = false;
  std::vector<SharedPart> taken;  ///< of a shared one, by VMs in `served`
  bool lasting = false;  ///< made for a duration: `until_unix_s` follows changes of the clock
  bool operator==(const Reservation&) const = default;

  /// Returns true if it is for that VM. `vm` must have its effective policy.
  [[nodiscard]] bool is_for(const VmDescription& vm) const;
  /// Returns true if it is for that VM and no other.
  [[nodiscard]] bool is_for_by_name(const VmDescription& vm) const;
  /// Returns the memory left, over all nodes and page sizes.
  [[nodiscard]] Bytes memory_left() const;
  /// Returns true if nothing will ever be left of it.
  [[nodiscard]] bool is_used_up() const { return !shared && memory.empty(); }
};

/// What a VM has taken up of a reservation.
struct TakenUp {
  std::string reservation;
  Bytes memory;
  bool ended = false;         ///< nothing is left of it
  std::vector<NodeId> nodes;  ///< where it had memory before
};

/// What has come back to a shared reservation.
struct CameBack {
  std::string reservation;
  VmId vm;  ///< the VM that has stopped
  std::string vm_name;
  Bytes memory;
};

class Reservations {
 public:
  static constexpr std::size_t kMost = 64;

  Reservations() = default;
  explicit Reservations(std::vector<Reservation> reservations) : all_(std::move(reservations)) {}

  /// Returns all reservations, in the order in which they were made.
  [[nodiscard]] const std::vector<Reservation>& all() const { return all_; }
  /// Returns null if there is none.
  [[nodiscard]] const Reservation* find(std::string_view name) const;

  void add(Reservation reservation) { all_.push_back(std::move(reservation)); }
  void remove(std::string_view name);
  /// Adjusts those made for a duration to a wall clock that was set forward by `by_s` seconds, or
  /// back. Returns true if that changed any.
  bool clock_set(std::int64_t by_s);
  /// Removes the reservations that have expired, and returns them.
  std::vector<Reservation> expire(std::int64_t now_unix_s);
  /// Lets a VM that begins to run take up what is for it. `nodes`: where it was told to start;
  /// empty: not known.
  std::vector<TakenUp> take_up(const VmDescription& vm, const std::vector<NodeId>& nodes);
  /// Lets VMs that have stopped take up again what is for them, and takes back what they have taken
  /// of shared ones. Returns nothing if no such VM had stopped.
  std::optional<std::vector<CameBack>> forget_stopped(const std::function<bool(const VmId&)>& runs);

  /// Leaves the reservations as a VM that is about to start counts them: without those that are for
  /// it. Returns the nodes on which something of these is left, each node once.
  std::vector<NodeId> open_for(const VmDescription& vm);

  /// Makes the snapshot's nodes keep the memory of these reservations, and of no others.
  void keep_in(Snapshot& snapshot) const;

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this

  std::vector<Reservation> all_;
};

}  // namespace vmnuma::balancer
