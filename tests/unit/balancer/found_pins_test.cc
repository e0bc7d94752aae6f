// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/found_pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::PinReader;
using balancer::PinState;
using Kind = balancer::PinState::Kind;
using Cpus = std::vector<CpuId>;

/// A VM of four vCPUs in one client; node n of the host has the CPUs 2n and 2n+1.
class FoundPinsTest : public testing::Test {
 protected:
  FoundPinsTest() {
    vm_.description = small_vm(1, "web1", 4);
    vm_.clients.resize(1);
    vm_.clients[0].shape.vcpus = vm_.description.vcpus;
  }
  void pin(std::initializer_list<std::int32_t> vcpus, const Cpus& cpus) {
    for (const std::int32_t vcpu : vcpus) {
      vm_.description.vcpu_pins.push_back({vcpu, cpus});
    }
  }
  [[nodiscard]] PinState state(const Cpus& given = {}) const {
    return PinReader(host_).state_of(vm_, vm_.clients[0], given);
  }

  Topology host_ = small_host(3);
  balancer::VmRecord vm_;
};

Cpus cpus(std::initializer_list<std::int32_t> numbers) {
  Cpus made;
  for (const std::int32_t number : numbers) {
    made.push_back(CpuId{number});
  }
  return made;
}

TEST_F(FoundPinsTest, PinsOverEveryUsableCpuAreNoPins) {
  EXPECT_EQ(state().kind, Kind::kFree);
  pin({0, 1}, cpus({0, 1, 2, 3, 4, 5}));
  pin({2, 3}, cpus({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(state().kind, Kind::kFree);
}

TEST_F(FoundPinsTest, PinsToWhatLibvirtWasAdvisedAreNoPinsUnlessTheySayMore) {
  vm_.description.advised_cpus = cpus({0, 1, 2, 3});
  pin({0, 1, 2, 3}, cpus({0, 1, 2, 3}));
  EXPECT_EQ(state().kind, Kind::kFree);
  vm_.clients[0].home = NodeId{1};
  EXPECT_EQ(state(cpus({0, 1, 2, 3})).kind, Kind::kOneNode);  // it was given them
  vm_.description.vcpu_pins[0].cpus = node_cpus(1);
  EXPECT_EQ(state().kind, Kind::kOther);
  vm_.description.vcpu_pins.clear();
  vm_.description.advised_cpus = node_cpus(2);
  pin({0, 1, 2, 3}, node_cpus(2));
  EXPECT_EQ(state().kind, Kind::kOneNode);
  EXPECT_EQ(state().node, NodeId{2});
}

TEST_F(FoundPinsTest, AsManyCpusAsThereAreButOthersArePins) {
  host_.nodes[1].cpus.clear();
  host_.nodes[2].cpus.clear();
  pin({0, 1, 2, 3}, cpus({0, 9}));
  EXPECT_EQ(state().kind, Kind::kOther);
}

TEST_F(FoundPinsTest, PinsOverTheOnlyNodeWithCpusAreNoPins) {
  host_.nodes[1].cpus.clear();
  host_.nodes[2].cpus.clear();
  pin({0, 1, 2, 3}, node_cpus(0));
  EXPECT_EQ(state().kind, Kind::kFree);
}

TEST_F(FoundPinsTest, KnowsAWholeNodeAlsoIfSomeOfItsCpusAreOffline) {
  pin({0, 1, 2, 3}, node_cpus(2));
  EXPECT_EQ(state().kind, Kind::kOneNode);
  EXPECT_EQ(state().node, NodeId{2});
  host_.nodes[2].cpus.pop_back();
  EXPECT_EQ(state().kind, Kind::kOneNode);
  EXPECT_EQ(state().node, NodeId{2});
}

TEST_F(FoundPinsTest, PinsToCpusThatAreGoneSayNothingElse) {
  pin({0, 1, 2, 3}, node_cpus(2));
  host_.nodes[2].cpus.clear();
  EXPECT_EQ(state().kind, Kind::kGone);
}

TEST_F(FoundPinsTest, PartOfANodeIsRightOnlyForTheVmThatItWasGivenTo) {
  vm_.clients[0].home = NodeId{1};
  pin({0, 1, 2, 3}, cpus({3}));
  EXPECT_EQ(state().kind, Kind::kOther);
  EXPECT_EQ(state(cpus({3})).kind, Kind::kOneNode);
  EXPECT_EQ(state(cpus({2})).kind, Kind::kOther);
}

TEST_F(FoundPinsTest, AVmThatLostItsPartOfItsHomeWasPinnedByOthers) {
  vm_.clients[0].home = NodeId{1};
  pin({0, 1, 2, 3}, node_cpus(1));
  EXPECT_EQ(state(cpus({3})).kind, Kind::kOther);
}

TEST_F(FoundPinsTest, APluggedVcpuIsNotPinnedYet) {
  pin({0, 1, 2}, node_cpus(1));
  EXPECT_EQ(state().kind, Kind::kIncomplete);
  EXPECT_EQ(state().node, NodeId{1});
}

TEST_F(FoundPinsTest, ThePinThatLibvirtGivesAPluggedVcpuDoesNotCountAsExternal) {
  for (const Cpus& by_default : {node_cpus(0), cpus({0, 1, 2, 3}), cpus({0, 1, 2, 3, 4, 5})}) {
    vm_.description.vcpu_pins.clear();
    vm_.description.default_pin = by_default;
    pin({0, 1, 2}, node_cpus(1));
    pin({3}, by_default);
    EXPECT_EQ(state().kind, Kind::kIncomplete);
    EXPECT_EQ(state().node, NodeId{1});
  }
}

TEST_F(FoundPinsTest, TheDefaultPinCountsWhereThereIsNoOther) {
  vm_.description.default_pin = node_cpus(2);
  pin({0, 1, 2, 3}, node_cpus(2));
  EXPECT_EQ(state().kind, Kind::kOneNode);
  EXPECT_EQ(state().node, NodeId{2});
  vm_.description.vcpu_pins.clear();
  vm_.description.default_pin = cpus({0, 2});
  pin({0, 1, 2, 3}, cpus({0, 2}));
  EXPECT_EQ(state().kind, Kind::kOther);
}

TEST_F(FoundPinsTest, VcpusOnSeveralNodesFitNoHome) {
  pin({0, 1}, node_cpus(0));
  pin({2, 3}, node_cpus(1));
  EXPECT_EQ(state().kind, Kind::kOther);
  EXPECT_EQ(common_pin(vm_, vm_.clients[0]), Cpus{});
}

}  // namespace
}  // namespace vmnuma::tests
