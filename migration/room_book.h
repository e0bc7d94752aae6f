// SPDX-License-Identifier: Apache-2.0
/// What nodes have left for page moves, kept in one place for all transfers.
///
/// Problem: the memory of several VMs goes to one node at a time. A transfer that looks how much
/// room the node has and then moves what fits does not see what others move there between its look
/// and its move, and an order that was begun because its memory fits would find the room taken.
/// Approach: one book for all. A node is read now and then, for everybody; whatever is moved there
/// is written off, also while the call that moves it is still to come. An order whose memory fits
/// is promised what it brings, less what it takes away, until its pages are there or its moves end;
/// others get what is left.
///
/// Terms. Pool: pages of one size of hugetlb; zero stands for ordinary memory. Room: what a node
/// has above its reserve, or in the pool. Holder: one VM's transfer. Claim of an action: the larger
/// of what it is still promised and what it is just moving.
///
/// Properties:
///  - between two readings no more is granted than a node had room for, whoever asks;
///  - nobody is granted what another action claims;
///  - an action is not hindered by its own promise;
///  - a reading is used for a second and for kLargestChunk at most, and by no transfer once the
///    node was read again;
///  - who is released claims nothing.
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
    placement::VmId vm;
    auto operator<=>(const Holder&) const = default;
  };

  /// Replaces what was promised to the holder.
  void promise(const Holder& holder, const std::vector<RoomNeed>& needs);
  /// Pages of the holder have come from one node to the other, so they are promised no more.
  void arrived(const Holder& holder, placement::NodeId from, placement::NodeId to,
               placement::Bytes pool, placement::Bytes size);
  /// The holder moves no more pages.
  void release(const Holder& holder);
  void release(std::int64_t action);

  /// What a node has left was just read.
  void note_reading(placement::NodeId node, const NodeMemory& memory, placement::Permille reserve,
                    placement::Microseconds now);
  /// How much the holder may move there; nothing: a new reading is needed first, as there is none
  /// that is good for `size` more.
  [[nodiscard]] std::optional<placement::Bytes> room_for(const Holder& holder,
                                                         placement::NodeId node,
                                                         placement::Bytes pool,
                                                         placement::Bytes size,
                                                         placement::Microseconds now) const;
  /// The holder is going to move so much there with its next call.
  void grant(const Holder& holder, placement::NodeId node, placement::Bytes pool,
             placement::Bytes size);
  /// That call has ended and moved at most so much.
  void settle(const Holder& holder, placement::NodeId node, placement::Bytes pool,
              placement::Bytes size);
  /// More or less may have been moved than was said: the node is to be read again.
  void doubt(placement::NodeId node) { readings_.erase(node); }

  /// What actions other than this one claim.
  [[nodiscard]] PromisedRoom promised_to_others(std::int64_t action) const;

 private:
  using Place = std::pair<placement::NodeId, placement::Bytes>;  ///< node and pool
  struct Grant {
    Place place;
    placement::Bytes size;
  };
  struct Account {
    std::map<Place, RoomNeed> promised;
    std::optional<Grant> granted;
  };
  struct Reading {
    std::map<placement::Bytes, placement::Bytes> room;  ///< by pool; a pool that is not there: none
    std::map<placement::Bytes, placement::Bytes> moved_since;  ///< by pool
    placement::Microseconds at;
  };

  /// Of everybody but the holder.
  [[nodiscard]] placement::Bytes claimed_by_others(const Holder& holder, const Place& place) const;

  std::map<Holder, Account> accounts_;
  std::map<placement::NodeId, Reading> readings_;
};

}  // namespace vmnuma::migration
