// SPDX-License-Identifier: Apache-2.0
/// Many VMs' memory on its way to one node at a time: together they never move below its reserve,
/// and a VM that was begun because its memory fits finds its room.
#include <gtest/gtest.h>

#include "tests/support/property.h"
#include "tests/unit/migration/world.h"

namespace vmnuma::migration {
namespace {

struct Moved {
  TestVm vm;
  Bytes size;
  Reason reason{};
};

RC_GTEST_PROP(ReserveProperty, TransfersToOneNodeNeverOvershootItsReserve, ()) {
  World world;
  Limits limits = world.limits();
  limits.node_reserve = Permille{*rc::gen::inRange(0, 200)};
  limits.vm_bytes_per_second = kMiB * *rc::gen::inRange(0, 200);
  world.set_limits(limits);
  world.memory.set_used_by_others(NodeId{1}, kMiB * *rc::gen::inRange(0, 250));
  const Bytes free_before = world.memory.free_on(NodeId{1});
  const Bytes reserve = kMiB * 256 / 1000 * limits.node_reserve.value;

  std::vector<Moved> moved;
  const int vms = *rc::gen::inRange(2, 9);
  for (int i = 0; i < vms; ++i) {
    const Bytes size = kMiB * 2 * *rc::gen::inRange(1, 15);
    const bool pull = *rc::gen::arbitrary<bool>();
    moved.push_back({world.start_vm("vm" + std::to_string(i), 0, size, *rc::gen::arbitrary<bool>()),
                     size, pull ? Reason::kMemoryPull : Reason::kLoadMove});
    Order order = World::order(i + 1, {world.change(moved.back().vm, 0, 1)});
    order.reason = moved.back().reason;
    world.executor().submit(order);
  }
  std::vector<ActionEvent> events = world.run([&] {
    RC_ASSERT(world.memory.free_on(NodeId{1}) >= std::min(free_before, reserve));
    return false;
  });
  RC_ASSERT(world.executor().idle());
  RC_ASSERT(world.memory.consistent());
  for (int i = 0; i < vms; ++i) {
    const Moved& one = moved[static_cast<std::size_t>(i)];
    if (one.reason == Reason::kLoadMove && finished(events, i + 1).state == ActionState::kDone) {
      RC_ASSERT(world.memory_on(one.vm, 1) == one.size);
    }
  }
}

}  // namespace
}  // namespace vmnuma::migration
