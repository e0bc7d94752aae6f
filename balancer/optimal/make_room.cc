// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/make_room.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "balancer/core/validator.h"
#include "balancer/optimal/cbc.h"
#include "balancer/optimal/program.h"
#include "placement/memory_room.h"

namespace vmnuma::balancer {

namespace {

Bytes in_mib(double amount) {
  return kMiB * static_cast<std::int64_t>(std::max(amount, 0.0));
}

/// A node is given up after this many answers without an order have been forbidden for it.
constexpr int kMostWithoutOrder = 16;

class RoomMaker {
 public:
  RoomMaker(const Arrangement& now, const FreeForVm& free, const RoomWanted& wanted)
      : now_(now), snapshot_(now.snapshot()), wanted_(wanted), free_(free) {
    for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
      if (!room_making_guard(now_, client)) {
        priorities_.push_back(priority_of(client));
      }
    }
    std::ranges::sort(priorities_, std::greater<>());
    priorities_.erase(std::unique(priorities_.begin(), priorities_.end()), priorities_.end());
  }

  RoomMade run(double seconds, const std::function<double()>& clock) {
    for (const NodeIndex node : wanted_.nodes) {
      if (could_live_on(node) && missing_on(node) <= Bytes{}) {
        RoomMade fits;
        fits.node = node;
        fits.sequence.reached = now_.homes();
        return fits;
      }
    }
    const double end = clock() + seconds;
    RoomMade best;
    std::vector<Site> sites = this->sites();
    bool all_known = true;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      Site& site = sites[i];
      if (best.node != kNoNode && moves_lowest_only(best) &&
          std::tuple(site.least, std::int64_t{1}) >= std::tuple(best.memory, best.moves)) {
        continue;  // at least as much must move there, whatever moves
      }
      // The other half of the time is for the nodes after this one.
      const double left = end - clock();
      const double until = i + 1 < sites.size() ? clock() + left / 2 : end;
      const std::optional<RoomMade> made = make_on(site, until, clock, all_known);
      if (made && (best.node == kNoNode || cost_of(*made) < cost_of(best))) {
        best = *made;
      }
    }
    for (const Site& site : sites) {
      best.least = &site == &sites.front() ? site.least : std::min(best.least, site.least);
    }
    best.least = std::min(best.least, best.memory);
    best.is_cheapest = all_known;
    if (best.node == kNoNode) {
      best.refused = why_hopeless();
      if (best.refused.empty()) {
        best.refused = all_known ? "moving all VMs that may move would not be enough"
                                 : "the search found none within its time limit";
        best.in_the_way = in_the_way();
      }
    }
    return best;
  }

 private:
  /// May be negative.
  [[nodiscard]] Bytes room_on(NodeIndex node) const {
    if (wanted_.page_size == Bytes{}) {
      return node < free_.room.size() ? free_.room[node] : Bytes{};
    }
    for (const FreeHugePages& pages : free_.huge_pages) {
      if (pages.node == snapshot_.topology.nodes[node].id && pages.page_size == wanted_.page_size) {
        return pages.page_size * pages.free;
      }
    }
    return {};
  }
  [[nodiscard]] Bytes missing_on(NodeIndex node) const { return wanted_.memory - room_on(node); }

  /// Returns true if the VM could live there if the node were empty.
  [[nodiscard]] bool could_live_on(NodeIndex node) const {
    return snapshot_.nodes[node].known && snapshot_.topology.can_be_home(node) &&
           snapshot_.topology.nodes[node].cpu_count() >= wanted_.vcpus &&
           size_of(node) >= wanted_.memory;
  }
  /// Returns all memory of the VM's kind on the node that VMs may have.
  [[nodiscard]] Bytes size_of(NodeIndex node) const {
    const Bytes size = wanted_.page_size;
    return size == Bytes{} ? ordinary_for_vms(snapshot_, node)
                           : size * pages_of(snapshot_.topology.nodes[node].huge_pages, size) -
                                 reservations_of(snapshot_.nodes[node], size);
  }

  // ---- priorities ----

  [[nodiscard]] std::int32_t priority_of(ClientIndex client) const {
    return snapshot_.vms[snapshot_.clients[client].vm].policy.priority;
  }
  /// For each of `priorities_`: memory that moves, and the number of moves.
  using Cost = std::vector<std::pair<Bytes, std::int64_t>>;
  [[nodiscard]] Cost cost_of(const RoomMade& made) const {
    Cost cost(priorities_.size());
    for (const Step& step : made.sequence.steps) {
      for (const Relocation& relocation : step.relocations) {
        const std::int32_t priority = priority_of(index_of(snapshot_, relocation.client));
        const auto place = std::ranges::find(priorities_, priority) - priorities_.begin();
        auto& [memory, moves] = cost[static_cast<std::size_t>(place)];
        memory += relocation.memory;
        ++moves;
      }
    }
    return cost;
  }
  [[nodiscard]] bool moves_lowest_only(const RoomMade& made) const {
    const Cost cost = cost_of(made);
    return cost.empty() || std::all_of(cost.begin(), cost.end() - 1, [](const auto& of_one) {
             return of_one == Cost::value_type();
           });
  }

  /// Returns any client with memory of the kind that the VM would get.
  [[nodiscard]] std::optional<ClientIndex> client_of_pool() const {
    for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
      if (page_size_of(snapshot_, snapshot_.clients[client]) == wanted_.page_size) {
        return client;
      }
    }
    return std::nullopt;
  }

  /// A node on which the VM could live.
  struct Site {
    NodeIndex node = kNoNode;
    Bytes least;  ///< that has to move for it, to the extent known
  };

  /// Returns the sites, least missing memory first. A client that frees memory takes the same
  /// amount with it, apart from what it has not touched.
  [[nodiscard]] std::vector<Site> sites() const {
    const std::optional<ClientIndex> client = client_of_pool();
    std::vector<Site> sites;
    for (const NodeIndex node : wanted_.nodes) {
      if (could_live_on(node) && client) {
        const Bytes untouched = now_.untouched().of(*client, node);
        sites.push_back({node, std::max(missing_on(node) - untouched, Bytes{})});
      }
    }
    std::ranges::stable_sort(sites, {}, &Site::least);
    return sites;
  }

  /// Finds out how much has to move at least. Sets `all_known` to false if something cheaper may be
  /// left.
  std::optional<RoomMade> make_on(Site& site, double end, const std::function<double()>& clock,
                                  bool& all_known) const {
    HomesProgram program(now_, HomesProgram::Cost::kMemoryMoved);
    program.free_up(site.node, wanted_.page_size, missing_on(site.node));
    for (int tries = 0; tries < kMostWithoutOrder; ++tries) {
      const std::optional<Homes> homes = cheapest(program, site, end, clock, all_known);
      if (!homes) {
        return std::nullopt;
      }
      if (std::optional<RoomMade> made = in_steps(site.node, *homes)) {
        return calmest(std::move(*made), end, clock);
      }
      program.forbid(*homes);
    }
    all_known = false;
    return std::nullopt;
  }

  /// Returns the program's answer that costs least, for the highest priority first.
  std::optional<Homes> cheapest(HomesProgram program, Site& site, double end,
                                const std::function<double()>& clock, bool& all_known) const {
    const double for_moves =
        HomesProgram::kCostOfAMove * static_cast<double>(snapshot_.clients.size());
    std::optional<Homes> homes;
    for (std::size_t place = 0; place < std::max<std::size_t>(priorities_.size(), 1); ++place) {
      std::vector<bool> counted(snapshot_.clients.size());
      for (ClientIndex client = 0; client < counted.size(); ++client) {
        counted[client] = priorities_.empty() || priority_of(client) == priorities_[place];
      }
      const double left = end - clock();
      if (left <= 0) {
        all_known = false;
        return std::nullopt;
      }
      const Result<Solution> solved = solve(program.costing_only(counted), {}, {left, 0});
      if (place == 0 && solved && std::isfinite(solved->bound)) {
        const double moved = std::floor(solved->bound - for_moves);
        site.least = std::max(site.least, in_mib(moved));
      }
      if (!solved || solved->values.empty()) {
        all_known = all_known && !solved && solved.error().code == ErrorCode::kNotFound;
        return std::nullopt;
      }
      all_known = all_known && solved->bound >= solved->cost - HomesProgram::kCostOfAMove / 2;
      homes = program.homes_of(solved->values);
      program.limit_cost(counted, solved->cost + HomesProgram::kCostOfAMove / 4);
    }
    return homes;
  }

  /// Returns the way to these homes, if there is one that keeps every rule and after which the VM
  /// fits.
  [[nodiscard]] std::optional<RoomMade> in_steps(NodeIndex node, const Homes& homes) const {
    RoomMade made;
    made.node = node;
    made.sequence = in_order(now_, homes);
    if (!made.sequence.stuck.empty()) {
      return std::nullopt;
    }
    Plan plan;
    for (const Step& step : made.sequence.steps) {
      plan.actions.push_back({Reason::kAdministrator, step.relocations, {}});
      for (const Relocation& relocation : step.relocations) {
        made.memory += relocation.memory;
        ++made.moves;
      }
    }
    if (!violations_of_orders(plan, snapshot_, now_.options()).empty() ||
        freed_on(node, homes) < missing_on(node)) {
      return std::nullopt;
    }
    return made;
  }

  /// Returns how much more memory admission will then find on the node.
  [[nodiscard]] Bytes freed_on(NodeIndex node, const Homes& homes) const {
    const std::optional<ClientIndex> one = client_of_pool();
    if (!one) {
      return {};
    }
    const auto room = [&](const Arrangement& arrangement) {
      return arrangement.room().of(*one, node) - arrangement.untouched().of(*one, node);
    };
    return room(arranged(now_, homes)) - room(now_);
  }

  /// Returns an answer of the same cost, with other targets if those lose less; the best found by
  /// `end`.
  [[nodiscard]] RoomMade calmest(RoomMade made, double end,
                                 const std::function<double()>& clock) const {
    CpuTime lost = assess(now_, made.sequence.reached).lost;
    for (bool found = true; found;) {
      found = false;
      for (ClientIndex client = 0; client < made.sequence.reached.size() && !found; ++client) {
        if (made.sequence.reached[client] == now_.home(client)) {
          continue;
        }
        for (const NodeIndex to : snapshot_.clients[client].allowed) {
          if (clock() >= end) {
            return made;
          }
          Homes other = made.sequence.reached;
          if (to == other[client] || to == now_.home(client)) {
            continue;
          }
          other[client] = to;
          if (const CpuTime less = assess(now_, other).lost; less < lost) {
            std::optional<RoomMade> way = in_steps(made.node, other);
            if (way && cost_of(*way) <= cost_of(made)) {
              made = std::move(*way);
              lost = less;
              found = true;
              break;
            }
          }
        }
      }
    }
    return made;
  }

  // ---- why there is no way ----

  /// Returns why no moves could help, whichever VMs may move; empty if they could.
  [[nodiscard]] std::string why_hopeless() const {
    if (std::ranges::none_of(wanted_.nodes,
                             [this](NodeIndex node) { return could_live_on(node); })) {
      return "none of the nodes that it may be on has that many CPUs and that much memory for "
             "VMs, or its readings are missing";
    }
    Bytes all;
    for (NodeIndex node = 0; node < snapshot_.nodes.size(); ++node) {
      all += std::max(room_on(node), Bytes{});
    }
    return all >= wanted_.memory
               ? std::string()
               : "all nodes together have " + std::to_string(all.value / kMiB.value) +
                     " MiB free for VMs, which is less than it needs";
  }

  [[nodiscard]] std::vector<InTheWay> in_the_way() const {
    std::vector<InTheWay> all;
    for (ClientIndex client = 0; client < snapshot_.clients.size(); ++client) {
      const ClientState& state = snapshot_.clients[client];
      const auto guard = room_making_guard(now_, client);
      for (const NodeIndex node : wanted_.nodes) {
        const Bytes memory = node < state.memory.size() ? state.memory[node] : Bytes{};
        if (guard && could_live_on(node) && memory > Bytes{}) {
          const VmState& vm = snapshot_.vms[state.vm];
          all.push_back({state.id, node, memory, *guard,
                         *guard == Guard::kStaleData     ? vm.stale_because
                         : *guard == Guard::kMemoryStays ? vm.memory_stays_because
                                                         : std::string()});
        }
      }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &InTheWay::memory);
    return all;
  }

  const Arrangement& now_;
  const Snapshot& snapshot_;
  const RoomWanted& wanted_;
  const FreeForVm& free_;
  std::vector<std::int32_t> priorities_;  ///< of VMs that may move, highest first
};

}  // namespace

RoomMade make_room(const Arrangement& now, const FreeForVm& free, const RoomWanted& wanted,
                   double seconds, const std::function<double()>& clock) {
  return RoomMaker(now, free, wanted).run(seconds, clock);
}

}  // namespace vmnuma::balancer
