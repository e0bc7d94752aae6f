// SPDX-License-Identifier: Apache-2.0
/// Chooses the node that a page moves to.
///
/// Problem: a VM's memory belongs on one node, or on several in a given proportion. During the move
/// nodes fill up and cpusets refuse pages, yet each page must get exactly one answer. Approach:
/// compute a goal per home from the quotas' proportion and what is resident. A page that is not on
/// a home goes to the home with the largest deficit; a page on a home above its goal goes to one
/// below. Neighbouring pages of one huge page stay together. If the homes have no room now, the
/// page waits; if they can never take it, it is refused.
///
/// Terms: Home: a node of the quotas. Pool: the hugetlb pages of one size; zero stands for ordinary
/// memory. Slack: the surplus that a home may keep (1/64 of the total), so that pages are not
/// shuffled needlessly.
///
/// Properties:
///  - goals add up to what is resident;
///  - a page on the only home stays;
///  - nothing goes to a node that is not a home;
///  - a surplus page only goes to a home below its goal;
///  - planning a move and taking it back restores every number.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "migration/order.h"
#include "migration/outcome.h"
#include "migration/page_mover.h"

namespace vmnuma::migration {

struct Stay {};
struct GoTo {
  NodeId node;
};
/// The page should move, but no home that could take it has room now.
struct WaitForRoom {};
/// The page should move, but no home will ever take it.
struct Refused {
  Leftover reason{};
};
using Destination = std::variant<Stay, GoTo, WaitForRoom, Refused>;

/// Divides `total` in the proportion of the quotas, in the same order; the shares add up to
/// `total`. Quotas that are all zero count as equal.
[[nodiscard]] std::vector<Bytes> share_out(const std::vector<NodeQuota>& quotas, Bytes total);

class Destinations {
 public:
  /// `quotas` must not be empty or name a node twice.
  Destinations(const std::vector<NodeQuota>& quotas, const std::map<NodeId, Bytes>& resident);

  /// The destination of a page of `size` on `from`. `neighbour` is the destination of the preceding
  /// page of the same huge page, if that page moves.
  [[nodiscard]] Destination choose(NodeId from, Bytes size, Bytes pool,
                                   std::optional<NodeId> neighbour) const;
  /// Counts a page as moved, when the move is planned. To take it back, call this with the nodes
  /// exchanged.
  void count_move(NodeId from, NodeId to, Bytes size);
  /// Removes a page counted on `node` that no longer exists.
  void count_gone(NodeId node, Bytes size);

  /// Marks the home as having no room in this pool until `reopen`.
  void block(NodeId home, Bytes pool);
  /// Marks the home as taking nothing more from this pool.
  void close(NodeId home, Bytes pool, Leftover reason);
  /// Lets everything blocked be tried again.
  void reopen();
  /// Closes everything that is blocked, because no room will be made.
  void close_blocked();

  /// What still has to be moved.
  [[nodiscard]] Bytes remaining() const;

 private:
  struct Home {
    Bytes goal;
    Bytes now;
  };
  enum class Door { kBlocked, kClosed };
  struct Gate {
    Door door{};
    Leftover reason{};
  };

  [[nodiscard]] Bytes& count_of(NodeId node);
  [[nodiscard]] const Gate* gate(NodeId home, Bytes pool) const;
  [[nodiscard]] Bytes surplus(const Home& home) const;

  std::map<NodeId, Home> homes_;
  std::map<NodeId, Bytes> elsewhere_;
  std::map<std::pair<NodeId, Bytes>, Gate> gates_;
  Bytes slack_;
};

}  // namespace vmnuma::migration
