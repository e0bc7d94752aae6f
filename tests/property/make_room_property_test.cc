// SPDX-License-Identifier: Apache-2.0
/// Room for a large VM: against every sequence of moves there is on small hosts, and on hosts of
/// every kind against the rules.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

#include <gtest/gtest.h>

#include "balancer/core/validator.h"
#include "balancer/optimal/make_room.h"
#include "placement/largest_vm.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"
#include "tests/support/property.h"

namespace vmnuma::balancer {
namespace {

using tests::any_host;
using tests::AnyHost;
using tests::Draw;
using tests::no_time;

FreeForVm free_of(const Arrangement& now) {
  FreeForVm free;
  for (NodeIndex node = 0; node < now.snapshot().nodes.size(); ++node) {
    free.room.push_back(room_for_starts(now, node));
  }
  return free;
}

/// Of the node that has most.
Bytes most_room(const Arrangement& now) {
  const std::vector<Bytes> room = free_of(now).room;
  return *std::max_element(room.begin(), room.end());
}

/// 2 to 4 nodes of 32 GiB, 4 to 7 VMs of 2 to 14 GiB, some of which may not move, not go
/// everywhere, or not be together. `priorities`: so many different ones.
Snapshot crowded_host(std::uint64_t number, std::int64_t priorities = 1) {
  Draw draw(number, 17);
  const auto nodes = static_cast<int>(draw.between(2, 4));
  tests::SnapshotBuilder builder;
  builder.nodes(nodes, {.cores = 8, .memory_gib = 32});
  std::vector<std::int64_t> left(static_cast<std::size_t>(nodes), 30);
  const std::int64_t vms = draw.between(4, nodes == 4 ? 6 : 7);
  for (std::int64_t i = 0; i < vms; ++i) {
    const auto home = static_cast<NodeIndex>(draw.up_to(nodes - 1));
    const std::int64_t gib = std::min(draw.between(2, 14), left[home]);
    if (gib == 0) {
      continue;
    }
    left[home] -= gib;
    tests::VmSpec vm;
    vm.name = "vm" + std::to_string(i);
    vm.homes = {home};
    vm.busy_pct = 5;
    vm.memory_gib.assign(static_cast<std::size_t>(nodes), 0);
    vm.memory_gib[home] = gib;
    vm.policy.priority = static_cast<std::int32_t>(
        Draw(number * 8 + static_cast<std::uint64_t>(i), 31).up_to(priorities - 1) - 1);
    vm.policy.do_not_move = draw.one_in(6);
    vm.epochs_here = draw.one_in(8) ? 1 : 100;
    vm.transferring = draw.one_in(12);
    if (draw.one_in(8)) {
      vm.memory_stays_because = "its memory stays";
    }
    if (draw.one_in(4)) {
      vm.policy.anti_affinity_group = "apart";
      vm.policy.anti_affinity_hard = true;
    }
    if (draw.one_in(6)) {
      vm.allowed = {home, static_cast<NodeIndex>(draw.up_to(nodes - 1))};
      std::sort(vm.allowed.begin(), vm.allowed.end());
      vm.allowed.erase(std::unique(vm.allowed.begin(), vm.allowed.end()), vm.allowed.end());
    }
    builder.vm(vm);
  }
  return builder.build();
}

/// Memory and moves of VMs of priority 1, of 0 and of -1.
using Price = std::array<std::pair<Bytes, std::int64_t>, 3>;

void add(Price& price, std::int32_t priority, Bytes memory) {
  auto& part = price[static_cast<std::size_t>(1 - priority)];
  part.first += memory;
  ++part.second;
}

Bytes memory_of(const Price& price) {
  return price[0].first + price[1].first + price[2].first;
}

std::int64_t moves_of(const Price& price) {
  return price[0].second + price[1].second + price[2].second;
}

Price price_of(const RoomMade& made, const Snapshot& snapshot) {
  Price price{};
  for (const Step& step : made.sequence.steps) {
    for (const Relocation& relocation : step.relocations) {
      const ClientState* client = find_client(snapshot, relocation.client);
      add(price, snapshot.vms[client->vm].policy.priority, relocation.memory);
    }
  }
  return price;
}

/// Every way there is, one client after the other or up to three at once, each as often as one
/// likes: the cheapest to homes with which so much is free on some node. Rules and room are written
/// down again, in plain words.
class EveryWay {
 public:
  EveryWay(const Snapshot& snapshot, const Options& options, Bytes wanted)
      : snapshot_(snapshot), wanted_(wanted) {
    for (const ClientState& client : snapshot.clients) {
      const VmState& vm = snapshot.vms[client.vm];
      may_move_.push_back(!vm.policy.do_not_move && client.epochs_here >= options.residency &&
                          !vm.transferring && vm.memory_stays_because.empty());
    }
  }

  std::optional<Price> cheapest() {
    std::vector<NodeIndex> start;
    for (const ClientState& client : snapshot_.clients) {
      start.push_back(client.home);
    }
    open_.push({Price{}, start});
    while (!open_.empty()) {
      const auto [price, homes] = open_.top();
      open_.pop();
      if (!done_.emplace(homes, price).second) {
        continue;
      }
      if (is_there(homes)) {
        return price;
      }
      go_on(price, homes, {}, 0, 3);
    }
    return std::nullopt;
  }

 private:
  using Homes = std::vector<NodeIndex>;
  struct Later {
    bool operator()(const std::pair<Price, Homes>& a, const std::pair<Price, Homes>& b) const {
      return a > b;
    }
  };

  [[nodiscard]] Bytes size(ClientIndex client) const {
    return snapshot_.clients[client].memory[snapshot_.clients[client].home];
  }
  [[nodiscard]] Bytes room(NodeIndex node, const Homes& homes) const {
    Bytes room = snapshot_.nodes[node].free - snapshot_.nodes[node].reserve;
    for (ClientIndex client = 0; client < homes.size(); ++client) {
      room += snapshot_.clients[client].home == node ? size(client) : Bytes{};
      room -= homes[client] == node ? size(client) : Bytes{};
    }
    return room;
  }
  [[nodiscard]] bool is_there(const Homes& homes) const {
    for (NodeIndex node = 0; node < snapshot_.nodes.size(); ++node) {
      if (room(node, homes) >= wanted_) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool may_be(ClientIndex client, NodeIndex node, const Homes& homes) const {
    const ClientState& state = snapshot_.clients[client];
    const auto& group = snapshot_.vms[state.vm].policy.anti_affinity_group;
    for (ClientIndex other = 0; other < homes.size() && !group.empty(); ++other) {
      if (other != client && homes[other] == node &&
          snapshot_.vms[snapshot_.clients[other].vm].policy.anti_affinity_group == group) {
        return false;
      }
    }
    return std::binary_search(state.allowed.begin(), state.allowed.end(), node) &&
           room(node, homes) >= Bytes{};
  }

  /// From `homes` with `moved` of the clients below `next` somewhere else.
  void go_on(const Price& price, const Homes& homes, const std::vector<ClientIndex>& moved,
             ClientIndex next, int left) {
    if (!moved.empty()) {
      const bool all_may = std::all_of(moved.begin(), moved.end(), [&](ClientIndex client) {
        return may_be(client, now_[client], now_);
      });
      if (all_may) {
        Price then = price;
        for (const ClientIndex client : moved) {
          add(then, snapshot_.vms[snapshot_.clients[client].vm].policy.priority, size(client));
        }
        open_.push({then, now_});
      }
    } else {
      now_ = homes;
    }
    for (ClientIndex client = next; client < homes.size() && left > 0; ++client) {
      for (NodeIndex node = 0; may_move_[client] && node < snapshot_.nodes.size(); ++node) {
        if (node != homes[client]) {
          std::vector<ClientIndex> more = moved;
          more.push_back(client);
          now_[client] = node;
          go_on(price, homes, more, client + 1, left - 1);
          now_[client] = homes[client];
        }
      }
    }
  }

  const Snapshot& snapshot_;
  Bytes wanted_;
  std::vector<bool> may_move_;
  Homes now_;
  std::priority_queue<std::pair<Price, Homes>, std::vector<std::pair<Price, Homes>>, Later> open_;
  std::map<Homes, Price> done_;
};

TEST(MakeRoomPropertyTest, OnSmallHostsNoSequenceOfMovesIsCheaper) {
  constexpr int kCases = 500;
  const Options options;
  int possible = 0;
  int fits = 0;
  int more_moves = 0;
  int missed = 0;
  std::int64_t worst_pct = 100;
  for (int number = 0; number < kCases; ++number) {
    const Snapshot snapshot = crowded_host(static_cast<std::uint64_t>(number));
    const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
    RoomWanted wanted;
    wanted.memory = most_room(now) + kGiB * Draw(static_cast<std::uint64_t>(number), 3).up_to(8);
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      wanted.nodes.push_back(node);
    }
    const std::optional<Price> least = EveryWay(snapshot, options, wanted.memory).cheapest();
    const RoomMade made = make_room(now, free_of(now), wanted, 60, no_time);
    if (!least) {
      EXPECT_EQ(made.node, kNoNode) << "host " << number;
      continue;
    }
    ++possible;
    fits += moves_of(*least) == 0 ? 1 : 0;
    if (made.node == kNoNode) {
      ++missed;
      continue;
    }
    EXPECT_GE(price_of(made, snapshot), *least) << "host " << number;
    EXPECT_LE(made.least, memory_of(*least)) << "host " << number;
    EXPECT_TRUE(made.is_cheapest) << "host " << number;
    more_moves += made.memory == memory_of(*least) && made.moves > moves_of(*least) ? 1 : 0;
    if (memory_of(*least) > Bytes{}) {
      worst_pct = std::max(worst_pct, made.memory.value * 100 / memory_of(*least).value);
    } else {
      EXPECT_EQ(made.moves, 0) << "host " << number;
    }
  }
  std::printf(
      "room can be made on %d of %d hosts, on %d it is there; missed %d, more moves than needed "
      "%d, at most %lld %% of the least memory\n",
      possible, kCases, fits, missed, more_moves, static_cast<long long>(worst_pct));
  EXPECT_GT(possible - fits, kCases / 8);
  EXPECT_EQ(missed, 0);
  EXPECT_LE(more_moves * 100, possible - fits);
  EXPECT_LE(worst_pct, 110);
}

TEST(MakeRoomPropertyTest, OnSmallHostsNoSequenceOfMovesSparesHigherPrioritiesMore) {
  constexpr int kCases = 200;
  const Options options;
  int made_by_moves = 0;
  int dearer = 0;
  for (int number = 0; number < kCases; ++number) {
    const Snapshot snapshot = crowded_host(static_cast<std::uint64_t>(number), 3);
    const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
    RoomWanted wanted;
    wanted.memory =
        most_room(now) + kGiB * Draw(static_cast<std::uint64_t>(number), 3).between(1, 8);
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      wanted.nodes.push_back(node);
    }
    const std::optional<Price> least = EveryWay(snapshot, options, wanted.memory).cheapest();
    const RoomMade made = make_room(now, free_of(now), wanted, 60, no_time);
    ASSERT_EQ(made.node == kNoNode, !least) << "host " << number;
    if (!least) {
      continue;
    }
    ++made_by_moves;
    EXPECT_TRUE(made.is_cheapest) << "host " << number;
    EXPECT_LE(made.least, made.memory) << "host " << number;
    const Price price = price_of(made, snapshot);
    EXPECT_GE(price, *least) << "host " << number;
    dearer += price > *least ? 1 : 0;
    // A VM that is more important than all that could have made the room alone stays.
    for (std::size_t i = 0; i < price.size(); ++i) {
      EXPECT_EQ(price[i].second == 0, (*least)[i].second == 0) << "host " << number;
      if ((*least)[i].second > 0) {
        break;
      }
    }
  }
  std::printf("room is made by moves on %d of %d hosts, dearer than needed on %d\n", made_by_moves,
              kCases, dearer);
  EXPECT_GT(made_by_moves, kCases / 8);
  EXPECT_LE(dearer * 50, made_by_moves);
}

RC_GTEST_PROP(MakeRoomPropertyTest, TheWayKeepsEveryRuleAndTheVmFitsThen, ()) {
  const AnyHost host = *rc::gen::oneOf(any_host(6, 30), tests::plain_host(6, 30));
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  RoomWanted wanted;
  wanted.memory = most_room(now) + kMiB * *rc::gen::inRange<std::int64_t>(-100, 4000);
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    if (snapshot.topology.can_be_home(node)) {
      wanted.nodes.push_back(node);
    }
  }
  const FreeForVm free = free_of(now);
  const RoomMade made = make_room(now, free, wanted, 10, no_time);
  RC_CLASSIFY(made.moves > 0, "moves");
  if (made.node == kNoNode) {
    RC_ASSERT(!made.refused.empty() && made.sequence.steps.empty());
    return;
  }
  if (made.sequence.steps.empty()) {
    RC_ASSERT(free.room[made.node] >= wanted.memory);
    return;
  }
  Plan plan;
  std::vector<Rehoming> changes;
  Bytes memory;
  for (const Step& step : made.sequence.steps) {
    plan.actions.push_back({Reason::kAdministrator, step.relocations, {}});
    for (const Relocation& relocation : step.relocations) {
      const ClientIndex client = index_of(snapshot, relocation.client);
      const VmState& vm = snapshot.vms[snapshot.clients[client].vm];
      RC_ASSERT(vm.fresh && vm.measured && !vm.transferring && !vm.policy.do_not_move);
      RC_ASSERT(vm.memory_stays_because.empty() && !snapshot.clients[client].moving);
      RC_ASSERT(snapshot.clients[client].epochs_here >= options.residency);
      changes.push_back({client, relocation.to});
      memory += relocation.memory;
    }
  }
  RC_ASSERT(violations_of_orders(plan, snapshot, options).empty());
  RC_ASSERT(memory == made.memory && static_cast<std::int64_t>(changes.size()) == made.moves);
  Arrangement then = now;
  then.apply(changes);
  RC_ASSERT(room_for_starts(then, made.node) >= wanted.memory);
  for (NodeIndex node = 0; node < wanted.nodes.size(); ++node) {
    RC_ASSERT(free.room[wanted.nodes[node]] < wanted.memory ||
              !snapshot.nodes[wanted.nodes[node]].known);
  }
}

}  // namespace
}  // namespace vmnuma::balancer
