// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_talks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr CpuTime kPassed{200'000};

VmId id_of(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

/// VM 1 has its vCPUs as told, VM 2 two of them on node 1.
SimTalks::VcpusOn with_vm_1_on(std::vector<std::int32_t> nodes) {
  return [nodes = std::move(nodes)](const VmId& vm) {
    return vm == id_of(1) ? nodes : std::vector<std::int32_t>{0, 2};
  };
}

SimTalks two_talking_vms() {
  SimTalks talks;
  talks.add(id_of(2), id_of(1), 100'000);
  return talks;
}

TEST(SimTalksTest, AWakeUpFromNodeToNodeTakesHalfOfItsCostFromEach) {
  // 20000 of 1.3 us in a fifth of a second.
  SimTalks talks = two_talking_vms();
  EXPECT_THAT(talks.pass(kPassed, with_vm_1_on({4, 0})),
              ElementsAre(Pair(id_of(1), CpuTime{13'000}), Pair(id_of(2), CpuTime{13'000})));
}

TEST(SimTalksTest, OnOneNodeNoVmLosesAnything) {
  SimTalks talks = two_talking_vms();
  EXPECT_THAT(talks.pass(kPassed, with_vm_1_on({0, 4})),
              ElementsAre(Pair(id_of(1), CpuTime{0}), Pair(id_of(2), CpuTime{0})));
}

TEST(SimTalksTest, HalfOfTheVcpusElsewhereCostHalf) {
  SimTalks talks = two_talking_vms();
  EXPECT_THAT(talks.pass(kPassed, with_vm_1_on({2, 2})),
              ElementsAre(Pair(id_of(1), CpuTime{6'500}), Pair(id_of(2), CpuTime{6'500})));
}

TEST(SimTalksTest, CountsWhatHappened) {
  SimTalks talks = two_talking_vms();
  EXPECT_THAT(talks.counters(), ElementsAre(WakeupSample{id_of(1), id_of(2), 0}));
  (void)talks.pass(kPassed, with_vm_1_on({4, 0}));
  (void)talks.pass(kPassed, with_vm_1_on({0, 4}));
  EXPECT_THAT(talks.counters(), ElementsAre(WakeupSample{id_of(1), id_of(2), 40'000}));
}

TEST(SimTalksTest, AVmThatDoesNotWantToRunWakesNoOther) {
  SimTalks talks = two_talking_vms();
  EXPECT_THAT(talks.pass(kPassed, with_vm_1_on({0, 0})), IsEmpty());
  EXPECT_THAT(talks.counters(), ElementsAre(WakeupSample{id_of(1), id_of(2), 0}));
}

TEST(SimTalksTest, AVmThatStopsTalksToNoOtherAnyMore) {
  SimTalks talks = two_talking_vms();
  talks.add(id_of(2), id_of(3), 5);
  talks.remove(id_of(1));
  EXPECT_THAT(talks.counters(), ElementsAre(WakeupSample{id_of(2), id_of(3), 0}));
  talks.remove(id_of(3));
  EXPECT_TRUE(talks.empty());
}

}  // namespace
}  // namespace vmnuma::tools
