// SPDX-License-Identifier: Apache-2.0
/// Keeps account of the room that nodes have for page moves, in one place for all transfers.
///
/// Problem: memory of several VMs may go to one node at the same time. A transfer that reads how
/// much room the node has and then moves what fits does not see what other transfers move there in
/// between, and an order that was begun because its memory fits could find the room taken.
/// Approach: one book for all transfers. A node is read now and then, on behalf of all; whatever is
/// moved there is deducted, even before the call that moves it. An order whose memory fits is
/// promised what it brings, less what it takes away, until its pages have arrived or its moves end;
/// other orders get what is left.
///
/// Terms. Pool: the hugetlb pages of one size; zero stands for ordinary memory. Room: what a node
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

  /// Sets what the holder is promised, replacing any earlier promise.
  void promise(const Holder& holder, const std::vector<RoomNeed>& needs);
  /// Reduces the holder's promise by pages that have arrived from the other node.
  void arrived(const Holder& holder, NodeId from, NodeId to, Bytes pool, Bytes size);
  /// Drops all claims of the holder, which will move no more pages.
  void release(const Holder& holder);
  void release(std::int64_t action);

  /// Enters a new reading of the node's memory.
  void record_reading(NodeId node, const NodeMemory& memory, Permille reserve, Microseconds now);
  /// How much the holder may move there. Nothing: the node must be read first, because no reading
  /// is valid for `size` more.
  [[nodiscard]] std::optional<Bytes> room_for(const Holder& holder, NodeId node, Bytes pool,
                                              Bytes size, Microseconds now) const;
  /// Deducts what the holder's next call is going to move there.
  void grant(const Holder& holder, NodeId node, Bytes pool, Bytes size);
  /// Ends the grant of that call, which has moved at most `size`.
  void settle(const Holder& holder, NodeId node, Bytes pool, Bytes size);
  /// Drops the node's reading, so that it is read again: the amount moved may differ from the
  /// grant.
  void doubt(NodeId node) { readings_.erase(node); }

  /// The room that other actions claim.
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
    std::map<Bytes, Bytes> room;         ///< by pool; a missing pool has none
    std::map<Bytes, Bytes> moved_since;  ///< by pool
    Microseconds at;
  };

  /// Claims other than the holder's.
  [[nodiscard]] Bytes claimed_by_others(const Holder& holder, const Place& place) const;

  std::map<Holder, Account> accounts_;
  std::map<NodeId, Reading> readings_;
};

}  // namespace vmnuma::migration
