// SPDX-License-Identifier: Apache-2.0
/// What clients.h and initial.h promise.
#include <algorithm>
#include <map>
#include <set>

#include "placement/clients.h"
#include "placement/initial.h"
#include "placement/strategy.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using tests::Draw;

struct AnyVm {
  Topology topology;
  VmDescription vm;
  bool prefer_ht = false;

  /// Cores (threads) of an allowed node, which are all alike, lowered by the policy.
  [[nodiscard]] std::int64_t size() const {
    const Node& node = topology.nodes[allowed_homes(topology, vm.policy).front()];
    std::int64_t size = prefer_ht ? node.cpu_count() : node.core_count();
    for (const std::int32_t most : {vm.policy.max_per_node, vm.policy.max_per_client}) {
      size = most > 0 ? std::min<std::int64_t>(size, most) : size;
    }
    return size;
  }
};

AnyVm any_vm() {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  AnyVm any;
  any.topology = tests::equal_nodes(static_cast<std::int32_t>(draw.between(1, 8)),
                                    static_cast<std::int32_t>(draw.between(1, 24)),
                                    static_cast<std::int32_t>(draw.between(1, 2)), 64);
  any.prefer_ht = draw.one_in(3);
  VmDescription& vm = any.vm;
  const auto count = static_cast<std::int32_t>(draw.between(1, 96));
  for (std::int32_t vcpu = 0; vcpu < count; ++vcpu) {
    if (!draw.one_in(20) || vm.vcpus.empty()) {
      vm.vcpus.push_back(vcpu);
    }
  }
  vm.max_vcpus = count;
  vm.memory = kGiB * draw.between(1, 96);
  if (draw.one_in(4)) {
    vm.policy.max_per_node = static_cast<std::int32_t>(draw.between(1, 16));
  }
  if (draw.one_in(4)) {
    vm.policy.max_per_client = static_cast<std::int32_t>(draw.between(1, 16));
  }
  vm.policy.consolidate = !draw.one_in(4);
  if (draw.one_in(3)) {
    vm.sockets = static_cast<std::int32_t>(draw.between(1, 8));
    vm.cores = static_cast<std::int32_t>(draw.between(1, 8));
    vm.threads = static_cast<std::int32_t>(draw.between(1, 2));
  }
  if (draw.one_in(3)) {
    const std::int32_t cells = static_cast<std::int32_t>(draw.between(1, 4));
    std::int32_t next = 0;
    for (std::int32_t cell = 0; cell < cells && next < count; ++cell) {
      GuestCell made{cell, {}, kGiB * draw.between(1, 16)};
      const std::int32_t end =
          cell + 1 == cells
              ? count
              : std::min(count, next + static_cast<std::int32_t>(draw.between(1, count)));
      for (; next < end; ++next) {
        made.vcpus.push_back(next);
      }
      vm.cells.push_back(made);
    }
    if (next < count) {
      for (; next < count; ++next) {
        vm.cells.back().vcpus.push_back(next);
      }
    }
  }
  return any;
}

RC_GTEST_PROP(ClientsProperty, EveryVcpuIsInExactlyOneClientThatIsNotTooLarge, ()) {
  const AnyVm any = any_vm();
  const std::vector<ClientShape> clients = split_into_clients(any.vm, any.topology, any.prefer_ht);
  std::vector<std::int32_t> all;
  Bytes memory;
  std::int32_t first = -1;
  for (const ClientShape& client : clients) {
    RC_ASSERT(!client.vcpus.empty());
    RC_ASSERT(static_cast<std::int64_t>(client.vcpus.size()) <= any.size());
    RC_ASSERT(std::is_sorted(client.vcpus.begin(), client.vcpus.end()));
    RC_ASSERT(client.vcpus.front() > first);
    first = client.vcpus.front();
    all.insert(all.end(), client.vcpus.begin(), client.vcpus.end());
    memory += client.memory;
  }
  std::sort(all.begin(), all.end());
  RC_ASSERT(all == any.vm.vcpus);
  RC_ASSERT(memory == any.vm.memory);
}

RC_GTEST_PROP(ClientsProperty, ACellThatFitsANodeIsNeverSplit, ()) {
  const AnyVm any = any_vm();
  const std::vector<ClientShape> clients = split_into_clients(any.vm, any.topology, any.prefer_ht);
  for (const GuestCell& cell : any.vm.cells) {
    std::int64_t online = 0;
    std::set<std::size_t> in;
    for (const std::int32_t vcpu : cell.vcpus) {
      for (std::size_t i = 0; i < clients.size(); ++i) {
        if (std::binary_search(clients[i].vcpus.begin(), clients[i].vcpus.end(), vcpu)) {
          ++online;
          in.insert(i);
        }
      }
    }
    // Where not all cells fit, splitting by cells gives way to splitting by size.
    const bool all_fit =
        std::all_of(any.vm.cells.begin(), any.vm.cells.end(), [&](const GuestCell& other) {
          return static_cast<std::int64_t>(other.vcpus.size()) <= any.size();
        });
    RC_ASSERT(!all_fit || online == 0 || in.size() == 1);
  }
}

RC_GTEST_PROP(ClientsProperty, WhatFitsANodeIsOneClient, ()) {
  AnyVm any = any_vm();
  any.vm.policy.consolidate = true;
  const std::vector<ClientShape> clients = split_into_clients(any.vm, any.topology, any.prefer_ht);
  if (static_cast<std::int64_t>(any.vm.vcpus.size()) <= any.size()) {
    RC_ASSERT(clients.size() == 1);
  }
}

RC_GTEST_PROP(ClientsProperty, WithoutUnitsClientsAreAsEvenAsCanBe, ()) {
  AnyVm any = any_vm();
  any.vm.cells.clear();
  any.vm.sockets = any.vm.cores = any.vm.threads = 0;
  any.vm.policy.consolidate = true;
  const std::vector<ClientShape> clients = split_into_clients(any.vm, any.topology, any.prefer_ht);
  const auto [least, most] = std::minmax_element(
      clients.begin(), clients.end(),
      [](const ClientShape& a, const ClientShape& b) { return a.vcpus.size() < b.vcpus.size(); });
  RC_ASSERT(most->vcpus.size() - least->vcpus.size() <= 1);
  const auto vcpus = static_cast<std::int64_t>(any.vm.vcpus.size());
  RC_ASSERT(static_cast<std::int64_t>(clients.size()) == (vcpus + any.size() - 1) / any.size());
}

RC_GTEST_PROP(InitialPlacementProperty, OnlyAllowedNodesAndWithRoomWhereThereIsAny, ()) {
  const tests::AnyHost host = *tests::any_host(8, 40);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  for (const VmState& vm : snapshot.vms) {
    const Arrangement before = arrangement;
    const std::vector<HomeChoice> choices =
        choose_homes(arrangement, vm.first_client, vm.client_count, round_robin);
    for (const HomeChoice& choice : choices) {
      RC_ASSERT(before.home(choice.client) == kNoNode);
      RC_ASSERT(arrangement.home(choice.client) == choice.home);
      RC_ASSERT(snapshot.topology.can_be_home(choice.home));
      RC_ASSERT(snapshot.nodes[choice.home].known);
      RC_ASSERT(!arrangement.forbidden_by_group(choice.client, choice.home, {}));
      const std::vector<NodeIndex>& allowed = snapshot.clients[choice.client].allowed;
      RC_ASSERT(std::find(allowed.begin(), allowed.end(), choice.home) != allowed.end());
      RC_ASSERT(!choice.considered.empty());
      RC_ASSERT(choice.considered.front().node == choice.home);
      if (choices.size() == 1) {
        const bool some_fit = std::any_of(choice.considered.begin(), choice.considered.end(),
                                          [](const NodeChoice& node) { return node.fits; });
        RC_ASSERT(choice.considered.front().fits == some_fit);
      }
    }
  }
}

RC_GTEST_PROP(InitialPlacementProperty, AStrategyChoosesAmongAllowedNodesWithRoom, ()) {
  const tests::AnyHost host = *tests::any_host(8, 40);
  Snapshot snapshot = host.snapshot();
  Draw draw(host.seed, 4711);
  for (VmState& vm : snapshot.vms) {
    vm.policy.strategy = static_cast<PlacementStrategy>(draw.up_to(4));
  }
  const Options options = host.options();
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  for (const VmState& vm : snapshot.vms) {
    const Arrangement before = arrangement;
    const std::vector<HomeChoice> choices =
        choose_homes(arrangement, vm.first_client, vm.client_count, round_robin);
    for (const HomeChoice& choice : choices) {
      const std::vector<NodeIndex>& allowed = snapshot.clients[choice.client].allowed;
      RC_ASSERT(std::find(allowed.begin(), allowed.end(), choice.home) != allowed.end());
      RC_ASSERT(!arrangement.forbidden_by_group(choice.client, choice.home, {}));
      if (choices.size() > 1) {
        continue;
      }
      for (const NodeChoice& other : choice.considered) {
        RC_ASSERT(choice.considered.front().fits || !other.fits);
        if (other.fits == choice.considered.front().fits) {
          RC_ASSERT(strategy_rank(before, choice.client, choice.home) <=
                    strategy_rank(before, choice.client, other.node));
        }
      }
    }
  }
}

RC_GTEST_PROP(InitialPlacementProperty, PackingNeverOvercommitsWhileANodeHasCpus, ()) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const auto nodes = static_cast<int>(draw.between(2, 6));
  const auto vms = static_cast<int>(draw.between(1, 40));
  tests::SnapshotBuilder builder;
  builder.nodes(nodes, {.cores = 8, .threads_per_core = 2, .memory_gib = 512});
  for (int i = 0; i < vms; ++i) {
    tests::VmSpec vm{.name = "vm" + std::to_string(i),
                     .homes = {kNoNode},
                     .vcpus = static_cast<std::int32_t>(draw.between(1, 8)),
                     .busy_pct = draw.up_to(100),
                     .size_gib = 1,
                     .measured = false};
    vm.policy.strategy =
        draw.one_in(2) ? PlacementStrategy::kMostAllocated : PlacementStrategy::kLeastAllocated;
    builder.vm(vm);
  }
  const Snapshot snapshot = builder.build();
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  for (const VmState& vm : snapshot.vms) {
    const ClientIndex client = vm.first_client;
    bool one_has_cpus = false;
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      one_has_cpus =
          one_has_cpus ||
          allocated_cpus(arrangement, node, client) + snapshot.clients[client].vcpu_count() <= 16;
    }
    const auto choices = choose_homes(arrangement, client, 1, round_robin);
    RC_ASSERT(choices.size() == 1);
    RC_ASSERT(!one_has_cpus || allocated_cpus(arrangement, choices[0].home, kNoClient) <= 16);
  }
}

RC_GTEST_PROP(InitialPlacementProperty, EqualVmsOnEqualNodesEndWithinOneOfEachOther, ()) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const auto nodes = static_cast<int>(draw.between(2, 8));
  const auto vms = static_cast<int>(draw.between(1, 40));
  tests::SnapshotBuilder builder;
  builder.nodes(nodes, {.cores = 16, .memory_gib = 512});
  const auto vcpus = static_cast<std::int32_t>(draw.between(1, 4));
  const std::int64_t gib = draw.between(1, 8);
  for (int i = 0; i < vms; ++i) {
    builder.vm({.name = "vm" + std::to_string(i),
                .homes = {kNoNode},
                .vcpus = vcpus,
                .size_gib = gib,
                .measured = false});
  }
  const Snapshot snapshot = builder.build();
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  std::map<NodeIndex, int> on;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    on[node] = 0;
  }
  for (const VmState& vm : snapshot.vms) {
    for (const HomeChoice& choice : choose_homes(arrangement, vm.first_client, 1, round_robin)) {
      ++on[choice.home];
    }
  }
  const auto [least, most] = std::minmax_element(
      on.begin(), on.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  RC_ASSERT(most->second - least->second <= 1);
}

RC_GTEST_PROP(InitialPlacementProperty, ClientsOfOneVmLiveApartWhileTimeAllows, ()) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const auto nodes = static_cast<int>(draw.between(2, 8));
  const auto clients = static_cast<std::size_t>(draw.between(2, nodes));
  tests::SnapshotBuilder builder;
  builder.nodes(nodes, {.cores = 8, .memory_gib = 64});
  builder.vm({.name = "wide",
              .homes = std::vector<NodeIndex>(clients, kNoNode),
              .vcpus = static_cast<std::int32_t>(draw.between(6, 8))});  // no node has time for two
  const Snapshot snapshot = builder.build();
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  std::set<NodeIndex> homes;
  for (const HomeChoice& choice : choose_homes(arrangement, 0, clients, round_robin)) {
    homes.insert(choice.home);
  }
  RC_ASSERT(homes.size() == clients);
}

}  // namespace
}  // namespace vmnuma
