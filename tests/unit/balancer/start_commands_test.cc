// SPDX-License-Identifier: Apache-2.0
/// Where libvirt is told to start VMs, and what comes of it.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller.h"
#include "placement/model/text.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::AnnounceRequest;
using balancer::CommandReceived;
using balancer::Effects;
using balancer::Mode;
using balancer::SuggestRequest;
using balancer::SuggestView;
using balancer::WithdrawRequest;
using placement::NodeId;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::int64_t kVmMib = 64;
constexpr std::int64_t kFreeMib = 512;  // of a node

class StartCommandsTest : public testing::TestWithParam<Mode> {
 protected:
  StartCommandsTest() : host_(4, GetParam()) {}

  void measure() {
    (void)host_.tell_domains();
    host_.carry_out(host_.epoch());
    host_.carry_out(host_.epoch());
  }

  Result<balancer::Answer> ask(balancer::Command command) {
    last_ = host_.controller().on(CommandReceived{7, std::move(command)});
    EXPECT_THAT(last_.replies, SizeIs(1));
    return last_.replies.front().answer;
  }
  SuggestView suggest(std::int32_t vcpus, std::int64_t memory_mib = kVmMib) {
    const auto answer = ask(SuggestRequest{vcpus, memory_mib});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::get<SuggestView>(*answer) : SuggestView{};
  }
  std::int32_t node(std::int32_t vcpus, std::int64_t memory_mib = kVmMib) {
    const SuggestView view = suggest(vcpus, memory_mib);
    EXPECT_THAT(view.nodes, SizeIs(1));
    return view.nodes.empty() ? -1 : view.nodes.front().value;
  }
  void announce(std::uint8_t number, std::int32_t vcpus) {
    EXPECT_TRUE(
        ask(AnnounceRequest{"vm" + std::to_string(number), to_text(vm_id(number)), vcpus, kVmMib}));
  }
  std::string refusal(balancer::Command command) {
    const auto answer = ask(std::move(command));
    EXPECT_FALSE(answer);
    return answer ? "" : answer.error().message;
  }

  HostStory host_;
  Effects last_;
};

INSTANTIATE_TEST_SUITE_P(, StartCommandsTest,
                         testing::Values(Mode::kActive, Mode::kDryRun, Mode::kObserve),
                         [](const auto& tested) {
                           const std::string name(name_of(tested.param));
                           return name == "dry-run" ? std::string("dry_run") : name;
                         });

TEST_P(StartCommandsTest, BeforeTheFirstReadingThereIsNoAnswer) {
  EXPECT_THAT(refusal(SuggestRequest{2, 64}), HasSubstr("nothing has been measured yet"));
}

TEST_P(StartCommandsTest, ABootStormSpreads) {
  measure();
  std::multiset<std::int32_t> nodes;
  for (int i = 0; i < 8; ++i) {
    nodes.insert(node(2));
  }
  EXPECT_EQ(nodes, (std::multiset<std::int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_P(StartCommandsTest, GoesWhereThereIsCpuTimeLeft) {
  for (std::uint8_t number = 1; number <= 3; ++number) {
    host_.start(small_vm(number, "vm" + std::to_string(number), 2), number - 1, 100);
    host_.pin(number, node_cpus(number - 1));
  }
  measure();
  EXPECT_EQ(node(2), 3);
}

TEST_P(StartCommandsTest, SaysWhichAnnouncedVmItIsAbout) {
  measure();
  announce(5, 2);
  announce(6, 1);
  EXPECT_EQ(suggest(1).vm, "vm6");
  EXPECT_THAT(last_.log, Contains(Field(&balancer::LogLine::message, HasSubstr("VM 'vm6'"))));
  EXPECT_EQ(suggest(2).vm_uuid, to_text(vm_id(5)));
  EXPECT_EQ(suggest(2).vm, "");
}

TEST_P(StartCommandsTest, TheVmGetsItsHomeWhereItWasStarted) {
  measure();
  const std::int32_t other = node(2);
  announce(5, 2);
  const std::int32_t told = node(2);
  EXPECT_NE(told, other);
  placement::VmDescription vm = small_vm(5, "vm5", 2);
  vm.placement_auto = true;
  host_.start(vm, told, 50);
  (void)host_.tell_domains();
  host_.carry_out(host_.epoch());
  host_.carry_out(host_.epoch());
  EXPECT_EQ(host_.home(5), told);
}

TEST_P(StartCommandsTest, AStartedVmCountsOnce) {
  measure();
  announce(5, 2);
  const std::int32_t told = node(2);
  host_.start(small_vm(5, "vm5", 2), told, 50);
  (void)host_.tell_domains();
  host_.carry_out(host_.epoch());
  // It lives there now; three more find a node each, and the fourth goes round again.
  std::set<std::int32_t> nodes{told};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(nodes.insert(node(2)).second);
  }
}

TEST_P(StartCommandsTest, OneThatDoesNotStartLeavesItsPlace) {
  measure();
  std::set<std::int32_t> taken{node(2), node(2), node(2)};
  announce(5, 2);
  const std::int32_t last = node(2);
  EXPECT_FALSE(taken.contains(last));
  EXPECT_TRUE(ask(WithdrawRequest{to_text(vm_id(5))}));
  EXPECT_EQ(node(2), last);
}

TEST_P(StartCommandsTest, AWideVmGetsSeveralNodes) {
  measure();
  EXPECT_THAT(suggest(4).nodes, SizeIs(2));
}

TEST_P(StartCommandsTest, MemoryThatDoesNotFitANodeGetsMoreNodes) {
  measure();
  EXPECT_THAT(suggest(1, kFreeMib * 3 / 2).nodes, SizeIs(2));
  EXPECT_THAT(suggest(1, kFreeMib * 100).nodes, SizeIs(4));  // nowhere is room, so anywhere
}

TEST_P(StartCommandsTest, ThePolicysNodesAreKept) {
  balancer::ConfigChanged config;
  config.mode = GetParam();
  config.policies["vm5"].nodes = {NodeId{2}};
  (void)host_.controller().on(config);
  measure();
  for (int i = 0; i < 3; ++i) {
    announce(5, 2);
    EXPECT_EQ(node(2), 2);
  }
  EXPECT_TRUE(ask(AnnounceRequest{"vm5", to_text(vm_id(5)), 2, kFreeMib * 100}));
  EXPECT_EQ(node(2, kFreeMib * 100), 2);
}

/// A VM whose metadata asks for one node.
AnnounceRequest for_one_node(std::uint8_t number, std::int32_t vcpus, std::int64_t memory_mib) {
  AnnounceRequest request{"vm" + std::to_string(number), to_text(vm_id(number)), vcpus, memory_mib};
  request.policy = {{"topology_policy", "single-numa-node"}};
  return request;
}

TEST_P(StartCommandsTest, AVmThatFitsOneNodeIsAdmittedAndCountsThereAtOnce) {
  measure();
  std::set<std::int32_t> nodes;
  for (std::uint8_t number = 5; number < 9; ++number) {
    AnnounceRequest request = for_one_node(number, 2, kVmMib);
    request.asks = number % 2 == 0;
    const auto answer = ask(request);
    ASSERT_TRUE(answer) << answer.error().message;
    const std::string message = std::get<balancer::DoneView>(*answer).message;
    EXPECT_THAT(message, HasSubstr("is admitted on nodes "));
    nodes.insert(message.back() - '0');
  }
  EXPECT_THAT(nodes, SizeIs(4));
  // libvirt asks for two of them, and hears what was found then.
  EXPECT_EQ(suggest(2).vm, "vm6");
  EXPECT_EQ(suggest(2).vm, "vm8");
  EXPECT_EQ(suggest(2).vm, "");
}

TEST_P(StartCommandsTest, AVmThatDoesNotFitIsRefusedWithPolicyDemandAndWhatEachNodeHad) {
  measure();
  const auto answer = ask(for_one_node(5, 1, kFreeMib * 3 / 2));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNoSpace);
  EXPECT_THAT(answer.error().message, HasSubstr("topology_policy is 'single-numa-node'"));
  EXPECT_THAT(answer.error().message, HasSubstr("1 CPUs, 768 MiB of memory"));
  EXPECT_THAT(answer.error().message, HasSubstr("on node 3 2 CPUs"));
  EXPECT_THAT(last_.log, Contains(Field(&balancer::LogLine::message, HasSubstr("not admitted"))));
  EXPECT_EQ(suggest(1, kFreeMib * 3 / 2).vm, "");  // it is not expected
  EXPECT_THAT(refusal(for_one_node(6, 3, kVmMib)), HasSubstr("3 CPUs"));
}

TEST_P(StartCommandsTest, ARestrictedVmMayHaveTwoNodesWhereNoEmptyNodeWouldDo) {
  measure();
  AnnounceRequest request = for_one_node(5, 3, kVmMib);
  request.policy = {{"topology_policy", "restricted"}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(3).nodes, SizeIs(2));
}

TEST_P(StartCommandsTest, WithScopeClientEachGuestCellMayHaveANodeOfItsOwn) {
  measure();
  AnnounceRequest request = for_one_node(5, 4, kVmMib);
  EXPECT_THAT(refusal(request), HasSubstr("4 CPUs"));
  request.policy.push_back({"topology_scope", "client"});
  request.cells = {{{0, 1}, kVmMib / 2}, {{2, 3}, kVmMib / 2}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(4).nodes, SizeIs(2));
  request.cells = {{{1, 0}, kVmMib}};
  EXPECT_THAT(refusal(request), HasSubstr("vCPUs are ascending numbers"));
}

TEST_P(StartCommandsTest, HugePagesAndDevicesAreJudgedAsTheHookTellsThem) {
  measure();
  AnnounceRequest request = for_one_node(5, 1, 64);
  request.huge_page_kib = 2048;
  request.huge_pages = {{{0}, 32, 32}, {{2}, 31, 64}, {{3}, 40, 64}};
  request.devices = {{"0000:3b:00.0", {3}}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(1).nodes, ElementsAre(NodeId{3}));
  request.devices = {{"0000:3b:00.0", {2}}};
  EXPECT_THAT(refusal(request), HasSubstr("32 huge pages of 2048 KiB, devices of node 2"));
  request.devices = {};
  request.interfaces = {{"br0", {2}}};
  EXPECT_TRUE(ask(request));  // no more than a wish
  request.policy.push_back({"device_locality", "strict"});
  EXPECT_THAT(refusal(request), HasSubstr("devices of node 2"));
}

TEST_P(StartCommandsTest, ThePolicyThatCountsDecidesOnAdmission) {
  balancer::ConfigChanged config;
  config.mode = GetParam();
  config.policies["vm5"].topology_policy = placement::TopologyPolicy::kSingleNumaNode;
  (void)host_.controller().on(config);
  measure();
  AnnounceRequest request = for_one_node(5, 1, kFreeMib * 100);
  EXPECT_THAT(refusal(request), HasSubstr("single-numa-node"));
  request.policy = {};  // the configuration's word
  EXPECT_THAT(refusal(request), HasSubstr("single-numa-node"));
  request.policy = {{"topology_policy", "best-effort"}};
  EXPECT_TRUE(ask(request));
  // A policy that is wrong counts nowhere.
  AnnounceRequest wrong = for_one_node(6, 1, kFreeMib * 100);
  wrong.policy.push_back({"colour", "blue"});
  EXPECT_TRUE(ask(wrong));
  config.metadata_wins = false;
  (void)host_.controller().on(config);
  EXPECT_TRUE(ask(for_one_node(6, 1, kFreeMib * 100)));
}

TEST_P(StartCommandsTest, BeforeTheFirstReadingNobodyIsRefusedForLackOfRoom) {
  const auto answer = ask(for_one_node(5, 1, kFreeMib * 100));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kBusy);
}

TEST_P(StartCommandsTest, WithoutAMemorySizeThereIsAnAnswer) {
  measure();
  EXPECT_THAT(suggest(2, 0).nodes, SizeIs(1));
}

TEST_P(StartCommandsTest, ImpossibleSizesAreRefused) {
  measure();
  EXPECT_THAT(refusal(SuggestRequest{0, 64}), HasSubstr("1 to 4096 vCPUs, not 0"));
  EXPECT_THAT(refusal(SuggestRequest{5000, 64}), HasSubstr("not 5000"));
  EXPECT_THAT(refusal(SuggestRequest{1, -1}), HasSubstr("not -1"));
  EXPECT_THAT(refusal(AnnounceRequest{"vm5", "no-uuid", 1, 1}), HasSubstr("no-uuid"));
  EXPECT_THAT(refusal(WithdrawRequest{"no-uuid"}), HasSubstr("no-uuid"));
}

}  // namespace
}  // namespace vmnuma::tests
