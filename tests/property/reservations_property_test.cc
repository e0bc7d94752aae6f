// SPDX-License-Identifier: Apache-2.0
/// What reservations.h promises of plans, on generated hosts.
#include <algorithm>
#include <map>

#include "balancer/core/planner.h"
#include "balancer/core/reservations.h"
#include "balancer/core/validator.h"
#include "placement/memory_room.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::any_host;

/// On about every second node, of what is free there now: all of it as often as a part.
Reservations any_reservations(const Snapshot& snapshot) {
  Reservations reservations;
  const MemoryRoom room(snapshot);
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const auto parts = *rc::gen::inRange<std::int64_t>(0, 9);
    const Bytes memory = room.ordinary(node) * std::min<std::int64_t>(parts, 4) / 4;
    if (memory > Bytes{}) {
      Reservation reservation;
      reservation.name = reservation.vm = "r" + std::to_string(node);
      reservation.homes = {snapshot.topology.nodes[node].id};
      reservation.memory = {{snapshot.topology.nodes[node].id, Bytes{}, memory}};
      reservations.add(std::move(reservation));
    }
  }
  return reservations;
}

RC_GTEST_PROP(ReservationsProperty, WithoutThemPlansAreTheSame, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  const Snapshot before = host.snapshot();
  Snapshot snapshot = before;
  Reservations().keep_in(snapshot);
  RC_ASSERT(snapshot == before);
  any_reservations(snapshot).keep_in(snapshot);
  Reservations().keep_in(snapshot);
  RC_ASSERT(snapshot == before);
  RC_ASSERT(make_plan(snapshot, host.options(), {}) == make_plan(before, host.options(), {}));
}

/// By node and page size; first of them the vCPUs.
using Kept = std::map<std::pair<std::int32_t, Bytes>, std::int64_t>;

void add(Kept& kept, std::int32_t vcpus, const std::vector<MemoryOnNode>& memory) {
  kept[{-1, Bytes{}}] += vcpus;
  for (const MemoryOnNode& part : memory) {
    kept[{part.node.value, part.page_size}] += part.memory.value;
  }
}

RC_GTEST_PROP(ReservationsProperty, OfASharedOneNeitherMoreNorLessIsKeptThanAtFirst, ()) {
  tests::Draw draw = tests::any_draw();
  const Bytes sizes[] = {Bytes{}, kMiB * 2};
  const auto any_nodes = [&draw] {
    std::vector<NodeId> nodes;
    for (std::int32_t node = 0; node < 3; ++node) {
      if (draw.one_in(2)) {
        nodes.push_back({node});
      }
    }
    return nodes;
  };
  Reservation made;
  made.name = made.vm = "vm0";
  made.group = "g";
  made.shared = true;
  made.vcpus = static_cast<std::int32_t>(draw.between(1, 40));
  for (std::int32_t node = 0; node < 3; ++node) {
    for (const Bytes size : sizes) {
      if (draw.one_in(2)) {
        made.memory.push_back({{node}, size, kMiB * 2 * draw.between(1, 9)});
      }
    }
  }
  Kept at_first;
  add(at_first, made.vcpus, made.memory);
  Reservations reservations({made});
  std::vector<bool> runs(6);
  const auto id_of = [](std::size_t number) {
    VmId id;
    id.uuid.fill(static_cast<std::uint8_t>(number + 1));
    return id;
  };
  for (int step = 0; step < 40; ++step) {
    const auto which = static_cast<std::size_t>(draw.up_to(5));
    runs[which] = !runs[which];
    if (runs[which]) {
      VmDescription vm;
      vm.id = id_of(which);
      vm.name = "vm" + std::to_string(which);
      vm.policy.affinity_group = which == 5 ? "" : "g";  // that one is for none
      vm.vcpus.resize(static_cast<std::size_t>(draw.between(1, 12)));
      vm.max_memory = kMiB * 2 * draw.between(1, 12);
      vm.huge_page_size = sizes[draw.up_to(1)];
      (void)reservations.take_up(vm, any_nodes());
    } else {
      (void)reservations.forget_stopped([&](const VmId& vm) {
        for (std::size_t number = 0; number < runs.size(); ++number) {
          if (id_of(number) == vm) {
            return static_cast<bool>(runs[number]);
          }
        }
        return false;
      });
    }
    RC_ASSERT(reservations.all().size() == 1U);
    const Reservation& now = reservations.all().front();
    Kept kept;
    add(kept, now.vcpus, now.memory);
    for (const SharedPart& part : now.taken) {
      add(kept, part.vcpus, part.memory);
      const auto number = static_cast<std::size_t>(part.vm.uuid.front() - 1);
      RC_ASSERT(number < 5U && runs[number]);
    }
    RC_ASSERT(kept == at_first);
  }
}

RC_GTEST_PROP(ReservationsProperty, NoMoveTakesMemoryThatIsReserved, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  Snapshot snapshot = host.snapshot();
  any_reservations(snapshot).keep_in(snapshot);
  const Plan plan = make_plan(snapshot, host.options(), {});
  RC_ASSERT(violations_of(plan, snapshot, host.options(), {}).empty());
  // However leaving memory is counted: it may make room for what comes.
  std::map<NodeIndex, Bytes> comes;
  std::map<NodeIndex, Bytes> leaves;
  for (const Action& action : plan.actions) {
    for (const Relocation& relocation : action.relocations) {
      const ClientState* client = find_client(snapshot, relocation.client);
      RC_ASSERT(client != nullptr);
      if (snapshot.vms[client->vm].huge_page_size > Bytes{}) {
        continue;
      }
      if (action.reason != Reason::kInitialPlacement) {
        comes[relocation.to] += relocation.memory;
      }
      for (NodeIndex node = 0; node < client->memory.size(); ++node) {
        leaves[node] += node == relocation.to ? Bytes{} : client->memory[node];
      }
    }
  }
  RC_TAG(comes.size());
  for (const auto& [node, bytes] : comes) {
    const NodeState& state = snapshot.nodes[node];
    const Bytes room = std::max(state.free - state.reserve, Bytes{});
    RC_ASSERT(bytes <= room + leaves[node]);
  }
}

RC_GTEST_PROP(ReservationsProperty, ToEveryPlanTheMemoryIsAsGoodAsTaken, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  const Snapshot before = host.snapshot();
  const Reservations reservations = any_reservations(before);
  Snapshot reserved = before;
  reservations.keep_in(reserved);
  Snapshot taken = before;
  for (const Reservation& reservation : reservations.all()) {
    taken.nodes[*taken.topology.index_of(reservation.homes.front())].free -=
        reservation.memory_left();
  }
  RC_ASSERT(make_plan(reserved, host.options(), {}) == make_plan(taken, host.options(), {}));
}

}  // namespace
}  // namespace vmnuma::balancer
