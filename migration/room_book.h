// SPDX-License-Identifier: Apache-2.0
/// What nodes have left for page moves, kept in one place for all transfers.
///
/// Problem: memory of several VMs may go to one node at the same time. A transfer that reads how
/// much room the node has and then moves what fits does not see what other transfers move there in
/// between, and an order that was begun because its memory fits could find the room taken.
/// Approach: one book for all transfers. A node is read now and then, on behalf of all; whatever is
/// moved there is deducted, even before the call that moves it. An order whose memory fits is
/// promised what it brings, less what it takes away, until its pages have arrived or its moves end;
/// other orders get what is left.
///
/// Terms. Pool: pages of one size of hugetlb; zero stands for ordinary memory. Room: what a node
/// has above its reserve, or in the pool. Holder: one VM's transfer. Claim of an action: the larger
/// of what it is still promised and what it is currently moving.
///
/// Properties:
///  - between two readings no more is granted in total than a node had room for;
///  - no holder is granted what another action claims;
///  - an action is not hindered by its own promise;
///  - a reading is used for at most a second and kLargestChunk, and not once the node has been read
///    again;
///  - a released holder claims nothing.
///
/// Thread: not thread-safe. The executor owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "migration/page_mover.h"
#include "migration/room.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma::migration {

class RoomBook {
 public:
  struct Holder {
    std::int64_t action = 0;
    VmId vm;
    auto operator<=>(const Holder&) const = default;
  };

  /// Replaces what was promised to the holder.
  void promise(const Holder& holder, const std::vector<RoomNeed>& needs);
  /// Pages of the holder have arrived from the other node, so they are no longer promised.
  void arrived(const Holder& holder, NodeId from, NodeId to, Bytes pool, Bytes size);
  /// The holder will move no more pages.
  void release(const Holder& holder);
  void release(std::int64_t action);

  /// What a node has left was just read.
  void note_reading(NodeId node, const NodeMemory& memory, Permille reserve, Microseconds now);
  /// How much the holder may move there. Nothing: a new reading is needed first, because none is
  /// valid for `size` more.
  [[nodiscard]] std::optional<Bytes> room_for(const Holder& holder, NodeId node, Bytes pool,
                                              Bytes size, Microseconds now) const;
  /// The holder is going to move that much there with its next call.
  void grant(const Holder& holder, NodeId node, Bytes pool, Bytes size);
  /// That call has ended and moved at most that much.
  void settle(const Holder& holder, NodeId node, Bytes pool, Bytes size);
  /// The amount moved may differ from what was granted: the node must be read again.
  void doubt(NodeId node) { readings_.erase(node); }

  /// What other actions claim.
  [[nodiscard]] PromisedRoom promised_to_others(std::int64_t action) const;

 private:
  using Place = std::pair<NodeId, Bytes>;  ///< node and pool
  struct Grant {
    Place place;
    Bytes size;
  };
  struct Account {
    std::map<Place, RoomNeed> promised;
    std::optional<Grant> granted;
  };
  struct Reading {
    std::map<Bytes, Bytes> room;         ///< by pool; a pool that is not there: none
    std::map<Bytes, Bytes> moved_since;  ///< by pool
    Microseconds at;
  };

  /// Claims other than the holder's.
  [[nodiscard]] Bytes claimed_by_others(const Holder& holder, const Place& place) const;

  std::map<Holder, Account> accounts_;
  std::map<NodeId, Reading> readings_;
};

}  // namespace vmnuma::migration
