// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/admission_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::AdmissionStamp;
using balancer::AdmissionState;
using balancer::parse_admission;
using balancer::to_text;
using testing::HasSubstr;
using testing::SizeIs;

AdmissionState some_state() {
  AdmissionState state;
  state.enforces = true;
  state.nodes = {{{0}, 16, 3, 7, kGiB, kMiB * 128, {{kMiB * 2, kGiB}, {kGiB, kGiB * 4}}},
                 {{2}, 8, 0, 3, {}, {}, {}}};
  balancer::StartingVm vm;
  vm.description = small_vm(5, to_text(vm_id(5)), 3);
  vm.description.huge_page_size = kMiB * 2;
  vm.description.policy.memory_class = MemoryClass::kGuaranteed;
  vm.asks = false;
  vm.homes = {NodeId{2}, NodeId{0}};
  vm.nodes = {NodeId{0}, NodeId{2}};
  vm.memory = {{NodeId{2}, kMiB * 2, kMiB * 64}};
  state.expected.push_back(vm);
  state.reservations.resize(2);
  state.reservations[0].vm = "db 1";
  state.reservations[0].group = "db";
  state.reservations[0].memory = {{NodeId{0}, {}, kGiB}, {NodeId{2}, kMiB * 2, kGiB}};
  state.reservations[1].vm_id = vm_id(7);
  state.reservations[1].memory = {{NodeId{2}, {}, kMiB}};
  state.reservations[1].owner = "shop & co";
  return state;
}

TEST(AdmissionStateTest, WhatIsWrittenIsReadBackTheSame) {
  const AdmissionStamp stamp{1'763'900'000, "9d5f3c1a"};
  const std::string text = to_text(some_state(), stamp);
  const auto read = parse_admission(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->stamp, stamp);
  EXPECT_EQ(read->state.nodes, some_state().nodes);
  EXPECT_TRUE(read->state.enforces);
  ASSERT_THAT(read->state.expected, SizeIs(1));
  const balancer::StartingVm& vm = read->state.expected.front();
  EXPECT_EQ(vm.homes, some_state().expected.front().homes);
  EXPECT_EQ(vm.nodes, some_state().expected.front().nodes);
  EXPECT_EQ(vm.memory, some_state().expected.front().memory);
  EXPECT_EQ(vm.description.own_policy,
            (std::vector<PolicySetting>{{"memory_class", "guaranteed"}}));
  EXPECT_EQ(read->state.reservations, some_state().reservations);
  EXPECT_EQ(to_text(read->state, stamp), text);
}

TEST(AdmissionStateTest, IsFreshForAWhileInItsBootOnly) {
  const auto read = parse_admission(to_text(AdmissionState{}, {1000, "this"}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_fresh({1000, "this"}));
  EXPECT_TRUE(read->is_fresh({1000 + balancer::kAdmissionFreshFor_s, "this"}));
  EXPECT_FALSE(read->is_fresh({1001 + balancer::kAdmissionFreshFor_s, "this"}));
  EXPECT_FALSE(read->is_fresh({999, "this"}));  // the clock was set back
  EXPECT_FALSE(read->is_fresh({1000, "other"}));
  EXPECT_FALSE(parse_admission(to_text(AdmissionState{}, {1000, ""}))->is_fresh({1000, ""}));
}

TEST(AdmissionStateTest, WhatIsDamagedCountsAsAWhole) {
  const std::string text = to_text(some_state(), {1000, "this"});
  for (std::size_t cut = 0; cut + 1 < text.size(); ++cut) {
    EXPECT_FALSE(parse_admission(text.substr(0, cut)));
  }
  const auto with = [&text](const std::string& part, const std::string& other) {
    std::string changed = text;
    EXPECT_NE(text.find(part), std::string::npos) << part;
    return changed.replace(text.find(part), part.size(), other);
  };
  for (const std::string& bad :
       {std::string("vmnuma-admission 1\nadmission advise\n"),
        with("\"version\":2", "\"version\":3"), with("\"cpus\":16", "\"cpus\":-1"),
        with("\"cpus\":16,", ""), with("\"enforces\":true", "\"enforces\":1"),
        with("\"vcpus\":3", "\"vcpus\":0"), with("\"vcpus\":3", "\"vcpus\":99999"),
        with(to_text(vm_id(5)), "nobody"),
        with("\"promised\":134217728", "\"promised\":9223372036854775807")}) {
    const auto read = parse_admission(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_THAT(parse_admission(with("\"cpus\":16", "\"cpus\":-1")).error().message,
              HasSubstr("the admission state: 'nodes[0].cpus' is not what it should be"));
  EXPECT_TRUE(parse_admission(with("\"version\":2", "\"version\":2,\"something\":\"new\"")));
}

}  // namespace
}  // namespace vmnuma::tests
