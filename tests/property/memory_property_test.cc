// SPDX-License-Identifier: Apache-2.0
/// What memory_cost.h, memory_attribution.h and memory_pulls.h promise.
#include <algorithm>
#include <map>

#include "balancer/core/memory_attribution.h"
#include "balancer/core/memory_pulls.h"
#include "placement/memory_cost.h"
#include "placement/memory_room.h"
#include "tests/property/any_host.h"

namespace vmnuma {
namespace {

using tests::Draw;

Bytes sum_of(const std::vector<Bytes>& parts) {
  Bytes sum;
  for (const Bytes part : parts) {
    sum += part;
  }
  return sum;
}

RC_GTEST_PROP(MemoryCostProperty, LocalMemoryCostsNothingAndStayingNeverTravels, ()) {
  const tests::AnyHost host = *tests::any_host(8, 40);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const MemoryRoom all_room(snapshot);
  for (const ClientState& client : snapshot.clients) {
    const MemoryProfile memory = memory_profile(snapshot, client, options);
    for (const NodeIndex node : client.allowed) {
      const Bytes room = all_room.ordinary(node);
      const MemoryCost cost = memory_cost(snapshot, client, memory, node, room, options);
      RC_ASSERT(cost.standing >= CpuTime{});
      RC_ASSERT(cost.travel >= CpuTime{});
      RC_ASSERT(cost.to_move <= memory.not_on(node));
      RC_ASSERT(cost.to_move <= std::max(room, Bytes{}));
      RC_ASSERT(cost.standing <= present_loss(snapshot, client, memory, node, options));
      RC_ASSERT(!cost.fits || !memory.can_follow || cost.standing == CpuTime{});
      if (memory.not_on(node) == Bytes{}) {
        RC_ASSERT(cost.standing == CpuTime{});
        RC_ASSERT(cost.travel == CpuTime{});
        RC_ASSERT(cost.fits || (node != client.home && memory.promised > room));
      }
      // Nothing is counted beyond the horizon: not more than losing all of it all the time, and
      // the copying itself.
      const CpuTime copying{cost.to_move.value / kMiB.value * options.move_cost_per_mib};
      RC_ASSERT(cost.travel <=
                present_loss(snapshot, client, memory, node, options) * options.move_horizon +
                    copying);
    }
  }
}

RC_GTEST_PROP(MemoryCostProperty, LossGrowsWithDistanceShareAndDemand, ()) {
  const tests::AnyHost host = *tests::plain_host(4, 20);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  Snapshot farther = snapshot;
  for (std::int32_t& distance : farther.topology.distances) {
    distance += distance > kLocalDistance ? 5 : 0;
  }
  for (const ClientState& client : snapshot.clients) {
    const MemoryProfile memory = memory_profile(snapshot, client, options);
    const NodeIndex home = client.home;
    const CpuTime loss = present_loss(snapshot, client, memory, home, options);
    RC_ASSERT(present_loss(farther, client, memory, home, options) >= loss);
    MemoryProfile busier = memory;
    busier.demand += CpuTime{1'000'000};
    RC_ASSERT(present_loss(snapshot, client, busier, home, options) >= loss);
    // A GiB more at home makes the rest a smaller share.
    ClientState nearer = client;
    nearer.memory[home] += kGiB;
    RC_ASSERT(present_loss(snapshot, nearer, memory_profile(snapshot, nearer, options), home,
                           options) <= loss);
  }
}

RC_GTEST_PROP(MemoryAttributionProperty, NothingIsLostOrCountedTwice, ()) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const auto nodes = static_cast<std::size_t>(draw.between(1, 8));
  std::vector<Bytes> on_nodes;
  for (std::size_t node = 0; node < nodes; ++node) {
    on_nodes.push_back(Bytes{draw.one_in(3) ? 0 : draw.up_to(kGiB.value * 64)});
  }
  std::vector<balancer::MemoryOwner> owners;
  for (std::int64_t i = draw.between(1, 5); i > 0; --i) {
    owners.push_back(
        {draw.one_in(6) ? kNoNode
                        : static_cast<NodeIndex>(draw.up_to(static_cast<std::int64_t>(nodes) - 1)),
         Bytes{draw.one_in(6) ? 0 : draw.up_to(kGiB.value * 64)},
         {}});
    for (std::size_t node = 0; draw.one_in(2) && node < nodes; ++node) {
      owners.back().own.push_back(Bytes{draw.up_to(kGiB.value * 32)});
    }
  }
  const auto parts = balancer::attribute_memory(on_nodes, owners);
  RC_ASSERT(parts.size() == owners.size());
  for (NodeIndex node = 0; node < nodes; ++node) {
    Bytes there;
    for (const std::vector<Bytes>& part : parts) {
      RC_ASSERT(part[node] >= Bytes{});
      there += part[node];
    }
    RC_ASSERT(there == on_nodes[node]);
  }
  if (owners.size() == 1) {
    RC_ASSERT(parts.front() == on_nodes);
  }
}

RC_GTEST_PROP(MemoryAttributionProperty, EveryClientIsLocalWhereEveryHomeHoldsItsShare, ()) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const std::int64_t clients = draw.between(1, 6);
  // In whole MiB a client, so that shares are exact.
  const Bytes each = kMiB * draw.between(1, 4096);
  std::vector<Bytes> on_nodes;
  std::vector<balancer::MemoryOwner> owners;
  for (std::int64_t i = 0; i < clients; ++i) {
    on_nodes.push_back(each);
    owners.push_back({static_cast<NodeIndex>(clients - 1 - i), kGiB, {}});
  }
  const auto parts = balancer::attribute_memory(on_nodes, owners);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    RC_ASSERT(parts[i][owners[i].home] == sum_of(parts[i]));
  }
}

RC_GTEST_PROP(MemoryAttributionProperty, WhereAllIsKnownEveryClientHasItsOwnMemory, ()) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const auto nodes = static_cast<std::size_t>(draw.between(1, 8));
  std::vector<Bytes> on_nodes(nodes);
  std::vector<balancer::MemoryOwner> owners;
  for (std::int64_t i = draw.between(1, 5); i > 0; --i) {
    balancer::MemoryOwner owner{
        static_cast<NodeIndex>(draw.up_to(static_cast<std::int64_t>(nodes) - 1)), kGiB, {}};
    for (std::size_t node = 0; node < nodes; ++node) {
      owner.own.push_back(Bytes{draw.up_to(kGiB.value)});
      on_nodes[node] += owner.own.back();
    }
    owners.push_back(std::move(owner));
  }
  const auto parts = balancer::attribute_memory(on_nodes, owners);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    RC_ASSERT(parts[i] == owners[i].own);
  }
}

RC_GTEST_PROP(MemoryPullsProperty, OnlyClientsThatStayAreServedAndNoNodeIsOverfilled, ()) {
  const tests::AnyHost host = *tests::any_host(8, 60);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  std::map<NodeIndex, Bytes> coming;
  for (const Action& pull : balancer::memory_pulls(arrangement)) {
    RC_ASSERT(pull.predicted.locality_after > pull.predicted.locality_before ||
              pull.predicted.locality_after == Permille{1000});
    for (const Relocation& relocation : pull.relocations) {
      const auto client =
          std::find_if(snapshot.clients.begin(), snapshot.clients.end(),
                       [&](const ClientState& state) { return state.id == relocation.client; });
      const VmState& vm = snapshot.vms[client->vm];
      RC_ASSERT(relocation.from == client->home);
      RC_ASSERT(relocation.to == client->home);
      RC_ASSERT(vm.fresh);
      RC_ASSERT(!vm.transferring);
      RC_ASSERT(!client->moving);
      RC_ASSERT(vm.memory_stays_because.empty());
      RC_ASSERT(options.page_mig_enable != 0);
      RC_ASSERT(relocation.memory <= sum_of(client->memory) - client->memory[client->home]);
      coming[relocation.to] += relocation.memory;
    }
  }
  for (const auto& [node, bytes] : coming) {
    RC_ASSERT(bytes <= std::max(snapshot.nodes[node].free - snapshot.nodes[node].reserve, Bytes{}));
  }
}

}  // namespace
}  // namespace vmnuma
