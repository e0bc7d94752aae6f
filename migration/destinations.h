// SPDX-License-Identifier: Apache-2.0
/// Which node a page goes to.
///
/// Problem: a VM's memory belongs on one node, or on several in a given proportion. While it is
/// being moved, nodes run full, cpusets refuse, and each page must still get one answer. Approach:
/// goals per home from the quotas' proportion and what is resident. A page elsewhere goes to the
/// home that lacks most; a page on a home that has more than its goal goes to one that lacks.
/// Neighbouring pages of one huge page stay together. Homes that have no room now are waited for,
/// homes that can never take the page refuse it.
///
/// Terms: Home: a node of the quotas. Pool: pages of one size of hugetlb; zero stands for ordinary
/// memory. Slack: the surplus that a home may keep (1/64 of all), so that pages are not shuffled
/// about for nothing.
///
/// Properties:
///  - goals add up to what is resident;
///  - a page on the only home stays;
///  - nothing goes to a node that is not a home;
///  - a surplus page only goes where it is lacking;
///  - planning and taking back restores every number.
#pragma once

#include <cstdint>
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
  placement::NodeId node;
};
/// It should go, but no home that could take it has room now.
struct WaitForRoom {};
/// It should go, but no home will ever take it.
struct Refused {
  Leftover reason{};
};
using Destination = std::variant<Stay, GoTo, WaitForRoom, Refused>;

/// `total` shared out in the proportion of the quotas, in the same order, adding up to `total`.
/// Quotas that are all zero count alike.
[[nodiscard]] std::vector<placement::Bytes> share_out(const std::vector<NodeQuota>& quotas,
                                                      placement::Bytes total);

class Destinations {
 public:
  /// `quotas` not empty, no node twice.
  Destinations(const std::vector<NodeQuota>& quotas, const std::vector<NodeBytes>& resident);

  /// Where a page of `size` that lies on `from` goes. `neighbour` is where the page before it in
  /// the same huge page goes, if it does.
  [[nodiscard]] Destination choose(placement::NodeId from, placement::Bytes size,
                                   placement::Bytes pool,
                                   std::optional<placement::NodeId> neighbour) const;
  /// Counts a page as moved, at planning. Taking it back is the same with the nodes exchanged.
  void count_move(placement::NodeId from, placement::NodeId to, placement::Bytes size);
  /// A page that was counted on `node` is no longer there, nor anywhere else.
  void count_gone(placement::NodeId node, placement::Bytes size);

  /// The home has no room in this pool until `reopen`.
  void block(placement::NodeId home, placement::Bytes pool);
  /// The home takes nothing more of this pool.
  void close(placement::NodeId home, placement::Bytes pool, Leftover reason);
  /// Everything blocked may be tried again.
  void reopen();
  /// Closes all that is blocked: nobody will make room.
  void close_blocked();

  /// What still has to travel.
  [[nodiscard]] placement::Bytes remaining() const;

 private:
  struct Home {
    placement::Bytes goal;
    placement::Bytes now;
  };
  enum class Door { kBlocked, kClosed };
  struct Gate {
    Door door{};
    Leftover reason{};
  };

  [[nodiscard]] placement::Bytes& count_of(placement::NodeId node);
  [[nodiscard]] const Gate* gate(placement::NodeId home, placement::Bytes pool) const;
  [[nodiscard]] placement::Bytes surplus(const Home& home) const;

  std::map<placement::NodeId, Home> homes_;
  std::map<placement::NodeId, placement::Bytes> elsewhere_;
  std::map<std::pair<placement::NodeId, placement::Bytes>, Gate> gates_;
  placement::Bytes slack_;
};

}  // namespace vmnuma::migration
