// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/sequence.h"

#include <gmock/gmock.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using tests::SnapshotBuilder;

Sequence sequence_of(const Snapshot& snapshot, const Homes& homes) {
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  return in_order(now, homes);
}

/// "a:0->1 b:1->0", one a step.
std::vector<std::string> steps_of(const Snapshot& snapshot, const Sequence& sequence) {
  std::vector<std::string> lines;
  for (const Step& step : sequence.steps) {
    std::string line;
    for (const Relocation& relocation : step.relocations) {
      for (const VmState& vm : snapshot.vms) {
        if (vm.id == relocation.client.vm) {
          line += (line.empty() ? "" : " ") + vm.name + ":" + std::to_string(relocation.from) +
                  "->" + std::to_string(relocation.to);
        }
      }
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(SequenceTest, TakesTheStepFirstThatSavesMost) {
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 4});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 1});
  builder.vm({.name = "c", .homes = {0}, .vcpus = 3});
  const Snapshot snapshot = builder.build();
  const Sequence sequence = sequence_of(snapshot, {0, 1, 2});
  EXPECT_THAT(steps_of(snapshot, sequence), ElementsAre("c:0->2", "b:0->1"));
  EXPECT_THAT(sequence.stuck, IsEmpty());
  EXPECT_THAT(sequence.reached, ElementsAre(0, 1, 2));
  EXPECT_GT(sequence.steps[0].lost_before, sequence.steps[0].lost_after);
  EXPECT_EQ(sequence.steps[1].lost_before, sequence.steps[0].lost_after);
  EXPECT_EQ(sequence.steps[1].lost_after, CpuTime{});
  EXPECT_EQ(sequence.steps[0].relocations[0].memory, kGiB);
}

TEST(SequenceTest, WaitsForRoom) {
  // 10 GiB of a fit on node 1 only when b has left it.
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 4, .memory_gib = 16});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {10}});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 1, .busy_pct = 1, .memory_gib = {0, 10}});
  const Snapshot snapshot = builder.build();
  EXPECT_THAT(steps_of(snapshot, sequence_of(snapshot, {1, 2})), ElementsAre("b:1->2", "a:0->1"));
}

TEST(SequenceTest, ExchangesTwoWhereNeitherCanGoFirst) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4, .memory_gib = 16});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {10}});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .memory_gib = {0, 10}});
  const Snapshot snapshot = builder.build();
  const Sequence sequence = sequence_of(snapshot, {1, 0});
  ASSERT_THAT(sequence.steps, SizeIs(1));
  EXPECT_THAT(steps_of(snapshot, sequence), ElementsAre("a:0->1 b:1->0"));
}

/// Four VMs on nodes that have room for one of them each.
SnapshotBuilder one_on_each_of_four() {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 4, .memory_gib = 16});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {10, 0, 0, 0}});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .memory_gib = {0, 10, 0, 0}});
  builder.vm({.name = "c", .homes = {2}, .vcpus = 2, .memory_gib = {0, 0, 10, 0}});
  builder.vm({.name = "d", .homes = {3}, .vcpus = 2, .memory_gib = {0, 0, 0, 10}});
  return builder;
}

TEST(SequenceTest, LetsFourGoInARing) {
  const Snapshot snapshot = one_on_each_of_four().build();
  const Sequence sequence = sequence_of(snapshot, {1, 2, 3, 0});
  ASSERT_THAT(sequence.steps, SizeIs(1));
  EXPECT_THAT(sequence.steps[0].relocations, SizeIs(4));
  EXPECT_THAT(sequence.reached, ElementsAre(1, 2, 3, 0));
}

TEST(SequenceTest, TriesOnlySoManySetsOfClients) {
  SnapshotBuilder builder = one_on_each_of_four();
  builder.vm({.name = "e", .homes = {0}, .memory_gib = {1}});
  const Snapshot snapshot = builder.build();
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const Sequence sequence = in_order(now, {1, 2, 3, 0, 2}, /*most_sets=*/3);
  EXPECT_THAT(steps_of(snapshot, sequence), ElementsAre("e:0->2"));
  EXPECT_THAT(sequence.stuck, SizeIs(4));
  EXPECT_THAT(sequence.reached, ElementsAre(0, 1, 2, 3, 2));
}

TEST(SequenceTest, SaysWhichClientFindsNoWay) {
  // b does not leave node 1, so there is never room for a.
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 4, .memory_gib = 16});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {10}});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .memory_gib = {0, 10}});
  builder.vm({.name = "c", .homes = {0}, .vcpus = 2, .memory_gib = {1}});
  const Snapshot snapshot = builder.build();
  const Sequence sequence = sequence_of(snapshot, {1, 1, 2});
  EXPECT_THAT(steps_of(snapshot, sequence), ElementsAre("c:0->2"));
  ASSERT_THAT(sequence.stuck, SizeIs(1));
  EXPECT_EQ(sequence.stuck[0].client, snapshot.clients[0].id);
  EXPECT_EQ(sequence.stuck[0].to, 1U);
  EXPECT_EQ(sequence.stuck[0].because, Guard::kNoRoom);
  EXPECT_THAT(sequence.reached, ElementsAre(0, 1, 2));
}

TEST(SequenceTest, BreaksNoHardGroupOnTheWay) {
  VmPolicy apart;
  apart.anti_affinity_group = "db";
  apart.anti_affinity_hard = true;
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 4});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .policy = apart});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 1, .busy_pct = 1, .policy = apart});
  const Snapshot snapshot = builder.build();
  EXPECT_THAT(steps_of(snapshot, sequence_of(snapshot, {1, 2})), ElementsAre("b:1->2", "a:0->1"));
  EXPECT_THAT(steps_of(snapshot, sequence_of(snapshot, {1, 0})), ElementsAre("a:0->1 b:1->0"));
  const Sequence stuck = sequence_of(snapshot, {1, 1});
  ASSERT_THAT(stuck.stuck, SizeIs(1));
  EXPECT_EQ(stuck.stuck[0].because, Guard::kAntiAffinity);
}

TEST(SequenceTest, ExchangesTwoVmsWhosePoolsHaveNoMorePages) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4, .huge_gib = 1});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .huge_pages = true});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .huge_pages = true});
  const Snapshot snapshot = builder.build();
  EXPECT_THAT(steps_of(snapshot, sequence_of(snapshot, {1, 0})), ElementsAre("a:0->1 b:1->0"));
  EXPECT_THAT(sequence_of(snapshot, {1, 1}).stuck, SizeIs(1));
}

}  // namespace
}  // namespace vmnuma::balancer
