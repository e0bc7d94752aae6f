// SPDX-License-Identifier: Apache-2.0
/// Whatever the memory looks like and however pages behave: no page is lost, and every page ends at
/// home or counted.
#include <algorithm>

#include <gtest/gtest.h>

#include "migration/transfer.h"
#include "tests/support/fake_memory.h"
#include "tests/support/property.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

using tests::FakeMemory;

constexpr int kNodes = 3;

NodeId any_node() {
  return NodeId{*rc::gen::inRange(0, kNodes)};
}

struct Stretch {
  std::uint64_t start;
  Bytes length;
};
/// Somewhere in a mapping of so many blocks.
Stretch any_stretch(int blocks) {
  const int first = *rc::gen::inRange(0, blocks * 512);
  const int pages = *rc::gen::inRange(1, 700);
  return {kRangeStart + static_cast<std::uint64_t>(first) * 4096,
          kPage * std::min(pages, blocks * 512 - first)};
}

RC_GTEST_PROP(TransferProperty, ConservesPagesAndAccountsForEveryOne, ()) {
  const Bytes capacity = kMiB * *rc::gen::inRange(30, 200);
  FakeMemory memory(
      {{NodeId{0}, capacity, {}}, {NodeId{1}, capacity, {}}, {NodeId{2}, capacity, {}}});
  const VmProcess process = memory.start_process();
  const int blocks = *rc::gen::inRange(1, 24);
  memory.map(process, {.start = kRangeStart,
                       .length = kBlock * blocks,
                       .page_size = kPage,
                       .huge_page_size = kBlock,
                       .hugetlb = false,
                       .shared = false,
                       .policy = {},
                       .resident = {}});
  Bytes on_nodes[kNodes];
  for (int block = 0; block < blocks; ++block) {
    const std::uint64_t start = kRangeStart + static_cast<std::uint64_t>(block) * 2097152;
    const NodeId node = any_node();
    Bytes& used = on_nodes[node.value];
    switch (*rc::gen::inRange(0, 4)) {
      case 0:  // a hole
        break;
      case 1:  // part of a block
        if (used + kBlock / 2 <= capacity) {
          used += kBlock / 2;
          memory.populate(process, start + 4096 * 100, kBlock / 2, node, false);
        }
        break;
      default:
        if (used + kBlock <= capacity) {
          used += kBlock;
          memory.populate(process, start, kBlock, node, *rc::gen::arbitrary<bool>());
        }
    }
  }
  const Bytes total = memory.bytes_on(process, NodeId{0}) + memory.bytes_on(process, NodeId{1}) +
                      memory.bytes_on(process, NodeId{2});
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const Stretch pinned = any_stretch(blocks);
    memory.pin(process, pinned.start, pinned.length);
    const Stretch busy = any_stretch(blocks);
    memory.make_busy(process, busy.start, busy.length, *rc::gen::inRange(1, 6),
                     *rc::gen::arbitrary<bool>());
    const Stretch hidden = any_stretch(blocks);
    memory.hide(process, hidden.start, hidden.length);
    const Stretch shared = any_stretch(blocks);
    memory.share(process, shared.start, shared.length);
  }
  if (*rc::gen::arbitrary<bool>()) {
    memory.set_cpuset(process, {any_node(), any_node()});
  }
  std::vector<NodeQuota> quotas{{any_node(), kMiB}};
  const NodeId second = any_node();
  if (*rc::gen::arbitrary<bool>() && second != quotas[0].node) {
    quotas.push_back({second, kMiB * *rc::gen::inRange(1, 4)});
  }
  Limits limits;
  limits.node_reserve = Permille{*rc::gen::inRange(0, 200)};

  MemoryChange change;
  change.quotas = quotas;
  RoomBook room;
  Transfer transfer(process, change, room, {});
  Microseconds now{1};
  Bytes granted;
  for (int steps = 0; !transfer.finished(); ++steps) {
    RC_ASSERT(steps < 50'000);
    now = std::max(now, transfer.ready_at());
    if (transfer.waits_for_room()) {
      transfer.give_up_room(now);
      continue;
    }
    if (transfer.wants() > Bytes{}) {
      granted = kPage * *rc::gen::inRange(64, 4096);
    }
    const TransferStep step = transfer.step(memory, limits, now, granted);
    now += step.elapsed + Microseconds{1};
    RC_ASSERT(steps % 16 != 0 || memory.consistent());
    RC_ASSERT(step.moved <= std::max(granted, kBlock));
  }

  const Outcome& outcome = transfer.outcome();
  RC_ASSERT(memory.consistent());
  RC_ASSERT(memory.holes_touched() == 0);
  RC_ASSERT(!transfer.error());
  Bytes at_home;
  Bytes after;
  for (int node = 0; node < kNodes; ++node) {
    const Bytes here = memory.bytes_on(process, NodeId{node});
    after += here;
    for (const NodeQuota& quota : quotas) {
      at_home += quota.node.value == node ? here : Bytes{};
    }
    // What was free above the reserve is all that moves took, and the rest of one huge page.
    const Bytes reserve = capacity / 1000 * limits.node_reserve.value;
    RC_ASSERT(memory.free_on(NodeId{node}) + kBlock >=
              std::min(reserve, capacity - on_nodes[node]));
  }
  RC_ASSERT(after == total);
  if (quotas.size() == 1) {
    RC_ASSERT(outcome.left == total - at_home);
    RC_ASSERT(outcome.moved + outcome.already_home + outcome.left == total);
    // Everything that is left has its reason.
    RC_ASSERT(outcome.unmovable() == outcome.left);
  }
}

}  // namespace
}  // namespace vmnuma::migration
