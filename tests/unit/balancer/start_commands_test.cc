// SPDX-License-Identifier: Apache-2.0
/// Where libvirt is told to start VMs, and what comes of it.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/controller.h"
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
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::int64_t kVmMib = 64;
constexpr std::int64_t kFreeMib = 512;  // of a node

class StartCommandsTest : public testing::TestWithParam<Mode> {
 protected:
  StartCommandsTest() : host_(4, GetParam()) {}

  void measure() {
    (void)host_.report_domains();
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

/// In mode active VMs are kept from starting.
class RefusedStartsTest : public StartCommandsTest {};
INSTANTIATE_TEST_SUITE_P(, RefusedStartsTest, testing::Values(Mode::kActive),
                         [](const auto& /*tested*/) { return std::string("active"); });

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

TEST_P(StartCommandsTest, VmsOfAHardGroupThatStartTogetherAreToldDifferentNodes) {
  for (std::uint8_t number = 1; number <= 3; ++number) {
    host_.start(small_vm(number, "vm" + std::to_string(number), 2), number - 1, 100);
    host_.pin(number, node_cpus(number - 1));
  }
  measure();
  std::set<std::int32_t> nodes;
  for (const std::uint8_t number : {std::uint8_t{5}, std::uint8_t{6}}) {
    AnnounceRequest asked{"vm" + std::to_string(number), to_text(vm_id(number)), 1, kVmMib};
    asked.policy = {{"anti_affinity_group", "db"}, {"anti_affinity", "hard"}};
    EXPECT_TRUE(ask(asked));
    nodes.insert(node(1));
  }
  EXPECT_THAT(nodes, SizeIs(2));
}

TEST_P(StartCommandsTest, SaysWhichAnnouncedVmItIsAbout) {
  measure();
  announce(5, 2);
  announce(6, 1);
  EXPECT_EQ(suggest(1).vm, "vm6");
  EXPECT_THAT(last_.log, Contains(Field(&balancer::LogLine::message, HasSubstr("VM 'vm6'"))));
  EXPECT_EQ(suggest(2).vm_uuid, to_text(vm_id(5)));
  EXPECT_EQ(suggest(2).vm, "");
  EXPECT_THAT(last_.log, ElementsAre(Field(&balancer::LogLine::fields, IsEmpty())));
}

TEST_P(StartCommandsTest, TheVmGetsItsHomeWhereItWasStarted) {
  measure();
  const std::int32_t other = node(2);
  announce(5, 2);
  const std::int32_t told = node(2);
  EXPECT_NE(told, other);
  VmDescription vm = small_vm(5, "vm5", 2);
  vm.placement_auto = true;
  host_.start(vm, told, 50);
  (void)host_.report_domains();
  host_.carry_out(host_.epoch());
  host_.carry_out(host_.epoch());
  EXPECT_EQ(host_.home(5), told);
}

TEST_P(StartCommandsTest, AStartedVmCountsOnce) {
  measure();
  announce(5, 2);
  const std::int32_t told = node(2);
  host_.start(small_vm(5, "vm5", 2), told, 50);
  (void)host_.report_domains();
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
    const std::string message = std::get<balancer::AnnouncedView>(*answer).message;
    EXPECT_THAT(message, HasSubstr("is admitted on nodes "));
    nodes.insert(message.back() - '0');
  }
  EXPECT_THAT(nodes, SizeIs(4));
  // libvirt asks for two of them, and hears what was found then.
  EXPECT_EQ(suggest(2).vm, "vm6");
  EXPECT_EQ(suggest(2).vm, "vm8");
  EXPECT_EQ(suggest(2).vm, "");
}

TEST_P(RefusedStartsTest, AVmThatDoesNotFitIsRefusedWithPolicyDemandAndWhatEachNodeHad) {
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

TEST_P(RefusedStartsTest, MemoryOfAVmThatHasJustEndedIsFree) {
  host_.start(small_vm(1, "vm1", 1), /*memory_node=*/1, /*busy_pct=*/10);
  host_.set_free(kMiB * 60);  // of which 51 are a reserve
  measure();
  EXPECT_THAT(refusal(for_one_node(5, 1, kVmMib)), HasSubstr("64 MiB of memory"));
  host_.stop(1);
  (void)host_.report_domains();
  EXPECT_TRUE(ask(for_one_node(5, 1, kVmMib)));
  EXPECT_TRUE(ask(for_one_node(1, 1, 1)));  // it may be announced anew at once
}

TEST_P(RefusedStartsTest, AVmThatIsStartedAgainCountsOnceEvenIfItsEndIsNotKnownYet) {
  host_.start(small_vm(1, "vm1", 1), /*memory_node=*/1, /*busy_pct=*/10);
  host_.set_free(kMiB * 60);  // of which 51 are a reserve
  measure();
  ASSERT_EQ(host_.home(1), 1);
  EXPECT_TRUE(ask(for_one_node(1, 2, kVmMib)));  // in place of its previous run, with one more vCPU
  EXPECT_THAT(refusal(for_one_node(5, 1, kVmMib)), HasSubstr("64 MiB of memory"));
  const auto view = std::get<balancer::HostView>(*ask(balancer::HostRequest{}));
  EXPECT_EQ(view.nodes[1].promised_vcpus, 2);
  EXPECT_EQ(view.nodes[1].promised_bytes, kVmMemory.value);
  EXPECT_THAT(suggest(2).nodes, ElementsAre(NodeId{1}));
}

TEST_P(StartCommandsTest, AVmThatAsksAgainCountsOnceEvenIfItsEndIsNotKnownYet) {
  host_.start(small_vm(1, "vm1", 2), /*memory_node=*/1, /*busy_pct=*/100);
  host_.pin(1, node_cpus(1));
  for (std::uint8_t number = 2; number <= 4; ++number) {
    const std::int32_t home = number == 2 ? 0 : number - 1;
    host_.start(small_vm(number, "vm" + std::to_string(number), 2), home, 50);
    host_.pin(number, node_cpus(home));
  }
  measure();
  announce(1, 2);
  EXPECT_EQ(node(2), 1);  // nothing else runs there
}

TEST_P(StartCommandsTest, ARestrictedVmMayHaveTwoNodesWhereNoEmptyNodeWouldDo) {
  measure();
  AnnounceRequest request = for_one_node(5, 3, kVmMib);
  request.policy = {{"topology_policy", "restricted"}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(3).nodes, SizeIs(2));
}

TEST_P(RefusedStartsTest, WithScopeClientEachGuestCellMayHaveANodeOfItsOwn) {
  measure();
  AnnounceRequest request = for_one_node(5, 4, kVmMib);
  EXPECT_THAT(refusal(request), HasSubstr("4 CPUs"));
  request.policy.push_back({"topology_scope", "client"});
  request.cells = {{{0, 1}, kVmMib / 2}, {{2, 3}, kVmMib / 2}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(4).nodes, SizeIs(2));
  request.cells = {{{1, 0}, kVmMib}};
  EXPECT_THAT(refusal(request), HasSubstr("must be ascending numbers"));
}

TEST_P(RefusedStartsTest, AVmStartsWhereItsMemoryMayLieOrNotAtAll) {
  host_.set_free(2, kMiB * 120);  // of which 51 are a reserve
  measure();
  AnnounceRequest request = for_one_node(5, 1, kVmMib);
  request.numatune = {{NumatuneMode::kStrict, {{2}}}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(1).nodes, ElementsAre(NodeId{2}));
  request = for_one_node(6, 1, kVmMib * 2);
  EXPECT_TRUE(ask(request));
  request.numatune = {{NumatuneMode::kRestrictive, {{2}}}};
  EXPECT_THAT(refusal(request), HasSubstr("128 MiB of memory. Free were on node 2"));
  request.numatune = {};
  request.cells = {{{0}, kVmMib * 2}};
  request.cells[0].numatune = {{NumatuneMode::kStrict, {{2}}}};
  EXPECT_THAT(refusal(request), HasSubstr("128 MiB of memory. Free were on node 2"));
}

TEST_P(RefusedStartsTest, HugePagesAndDevicesAreJudgedAsTheHookTellsThem) {
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
  request.interfaces = {};
  request.disks = {{"nvme0n1", {2}}};
  EXPECT_TRUE(ask(request));
  request.policy.push_back({"device_locality", "strict"});
  EXPECT_THAT(refusal(request), HasSubstr("devices of node 2"));
}

TEST_P(RefusedStartsTest, ThePolicyThatCountsDecidesOnAdmission) {
  balancer::ConfigChanged config;
  config.mode = GetParam();
  config.policies["vm5"].topology_policy = TopologyPolicy::kSingleNumaNode;
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

TEST_P(RefusedStartsTest, BeforeTheFirstReadingNoVmIsRefusedForLackOfRoom) {
  const auto answer = ask(for_one_node(5, 1, kFreeMib * 100));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kBusy);
}

/// Where no VM is kept from starting.
class AdvisedStartsTest : public StartCommandsTest {
 protected:
  AdvisedStartsTest() {
    balancer::ConfigChanged config;
    config.mode = GetParam();
    config.admission = balancer::AdmissionMode::kAdvise;
    if (GetParam() != Mode::kActive) {
      config.admission = balancer::AdmissionMode::kEnforce;  // that counts in mode active only
    }
    (void)host_.controller().on(config);
  }
  balancer::StatusView status() {
    return std::get<balancer::StatusView>(*ask(balancer::StatusRequest{}));
  }
};
INSTANTIATE_TEST_SUITE_P(, AdvisedStartsTest,
                         testing::Values(Mode::kActive, Mode::kDryRun, Mode::kObserve),
                         [](const auto& tested) {
                           const std::string name(name_of(tested.param));
                           return name == "dry-run" ? std::string("dry_run") : name;
                         });

TEST_P(AdvisedStartsTest, AVmThatDoesNotFitStartsAndItIsSaidWhatWouldHaveBeenRefused) {
  measure();
  const auto answer = ask(for_one_node(5, 1, kFreeMib * 3 / 2));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(std::get<balancer::AnnouncedView>(*answer).message,
              HasSubstr("may start on nodes 0-1, although topology_policy is"));
  EXPECT_THAT(last_.log, Contains(Field(&balancer::LogLine::message,
                                        HasSubstr("would not be admitted, but may start"))));
  ASSERT_THAT(last_.not_admitted, SizeIs(1));
  EXPECT_THAT(last_.not_admitted.front().detail, HasSubstr("it was let start because"));
  EXPECT_EQ(last_.not_admitted.front().name, "vm5");
  const balancer::StatusView view = status();
  EXPECT_EQ(view.admission, "advise");
  ASSERT_THAT(view.not_admitted, SizeIs(1));
  EXPECT_EQ(view.not_admitted.front().vm, "vm5");
  EXPECT_FALSE(view.not_admitted.front().refused);
  // It is expected all the same.
  EXPECT_EQ(suggest(1, kFreeMib * 3 / 2).vm, "vm5");
}

TEST_P(AdvisedStartsTest, WhatFitsLaterIsNoLongerSaid) {
  measure();
  EXPECT_TRUE(ask(for_one_node(5, 1, kFreeMib * 3 / 2)));
  EXPECT_THAT(status().not_admitted, SizeIs(1));
  EXPECT_TRUE(ask(for_one_node(5, 1, kVmMib)));
  EXPECT_THAT(status().not_admitted, SizeIs(0));
}

TEST_P(AdvisedStartsTest, BeforeTheFirstReadingEveryVmStarts) {
  EXPECT_TRUE(ask(for_one_node(5, 1, kFreeMib * 100)));
}

TEST_P(RefusedStartsTest, ARefusalIsInStatusAndHistory) {
  measure();
  EXPECT_THAT(refusal(for_one_node(5, 1, kFreeMib * 3 / 2)), HasSubstr("single-numa-node"));
  ASSERT_THAT(last_.not_admitted, SizeIs(1));
  EXPECT_THAT(last_.not_admitted.front().detail, HasSubstr("its start was refused"));
  const auto view = std::get<balancer::StatusView>(*ask(balancer::StatusRequest{}));
  EXPECT_EQ(view.admission, "enforce");
  ASSERT_THAT(view.not_admitted, SizeIs(1));
  EXPECT_TRUE(view.not_admitted.front().refused);
}

// ---- best-effort ----

AnnounceRequest best_effort(std::uint8_t number, std::int32_t vcpus, std::int64_t memory_mib) {
  AnnounceRequest request = for_one_node(number, vcpus, memory_mib);
  request.policy = {{"topology_policy", "best-effort"}};
  return request;
}

TEST_P(StartCommandsTest, BestEffortLeadsToTheNodeThatHasAll) {
  measure();
  AnnounceRequest request = best_effort(5, 1, 64);
  request.huge_page_kib = 2048;
  request.huge_pages = {{{0}, 31, 64}, {{1}, 0, 64}, {{2}, 31, 64}, {{3}, 40, 64}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(suggest(1).nodes, ElementsAre(NodeId{3}));
  request.huge_pages = {{{0}, 40, 64}, {{3}, 40, 64}};
  request.devices = {{"0000:3b:00.0", {3}}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(ask(request));
    EXPECT_THAT(suggest(1).nodes, ElementsAre(NodeId{3}));
  }
}

TEST_P(StartCommandsTest, BestEffortNeverRefusesAndSaysWhatWasShort) {
  measure();
  AnnounceRequest request = best_effort(5, 1, 64);
  request.huge_page_kib = 2048;
  request.huge_pages = {{{0}, 40, 64}, {{3}, 31, 64}};
  request.devices = {{"0000:3b:00.0", {3}}};
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(last_.log,
              Contains(Field(&balancer::LogLine::message,
                             testing::AllOf(HasSubstr("starts although its policy cannot be met"),
                                            HasSubstr("node 3")))));
  EXPECT_THAT(last_.not_admitted, SizeIs(0));
  EXPECT_TRUE(ask(best_effort(6, 1, kFreeMib * 100)));
}

TEST_P(StartCommandsTest, BestEffortCountsCpusAsTheKubeletDoes) {
  measure();
  // Three CPUs are on no node of two, but on two nodes.
  EXPECT_TRUE(ask(best_effort(5, 3, kVmMib)));
  EXPECT_THAT(suggest(3).nodes, SizeIs(2));
}

TEST_P(StartCommandsTest, OnAHostWithTooManyNodesBestEffortLeadsNowhere) {
  measure();
  AnnounceRequest request = best_effort(5, 1, 64);
  request.devices = {{"0000:3b:00.0", {3}}};
  request.policy.push_back({"max_allowable_numa_nodes", "3"});
  request.policy.push_back({"device_locality", "none"});
  EXPECT_TRUE(ask(request));
  EXPECT_THAT(last_.log, Contains(Field(&balancer::LogLine::message,
                                        HasSubstr("max_allowable_numa_nodes is 3"))));
}

TEST_P(StartCommandsTest, ExplainSaysHowTheTopologyPolicyIsMet) {
  VmDescription vm = small_vm(1, "web1", 2);
  vm.own_policy = {{"topology_policy", "best-effort"}};
  vm.pci_devices = {{"0000:3b:00.0", NodeId{3}}};
  host_.start(vm, 1, 50);
  host_.pin(1, node_cpus(1));
  host_.start(small_vm(2, "web2", 2), 0, 50);
  measure();
  const auto explained = [&](const std::string& name) {
    return std::get<balancer::ExplainView>(*ask(balancer::ExplainRequest{name}));
  };
  EXPECT_EQ(explained("web1").topology,
            "topology_policy is 'best-effort' and not met: it lives on node 1, its devices are on "
            "node 3");
  EXPECT_EQ(explained("web2").topology, "");
}

// ---- huge pages ----

/// Memory of 2 MiB pages: so many of them.
AnnounceRequest with_huge_pages(std::uint8_t number, std::int64_t pages, std::int64_t free) {
  AnnounceRequest request = for_one_node(number, 1, 2 * pages);
  request.huge_page_kib = 2048;
  request.huge_pages = {{{0}, free, 512}};
  return request;
}

TEST_P(RefusedStartsTest, HugePagesThatWerePromisedToOneVmAreNotPromisedToAnother) {
  measure();
  EXPECT_TRUE(ask(with_huge_pages(5, 512, 512)));
  EXPECT_THAT(refusal(with_huge_pages(6, 512, 512)),
              HasSubstr("Free were on node 0 2 CPUs, 0 huge pages of 2048 KiB"));
  EXPECT_TRUE(ask(with_huge_pages(5, 512, 512)));  // announced anew it counts once
  EXPECT_TRUE(ask(WithdrawRequest{to_text(vm_id(5))}));
  EXPECT_TRUE(ask(with_huge_pages(6, 512, 512)));
}

TEST_P(RefusedStartsTest, HugePagesOfAVmThatAsksForNothingAreNotPromisedToAnother) {
  measure();
  AnnounceRequest plain = with_huge_pages(5, 512, 512);
  plain.policy = {{"nodes", "0"}};
  EXPECT_TRUE(ask(plain));
  EXPECT_EQ(node(1, 1024), 0);
  EXPECT_THAT(refusal(with_huge_pages(6, 512, 512)), HasSubstr("0 huge pages of 2048 KiB"));
}

TEST_P(RefusedStartsTest, HugePagesOfAGuaranteedVmAreNotPromisedToAnother) {
  measure();
  AnnounceRequest kept = with_huge_pages(5, 512, 512);
  kept.policy = {{"nodes", "0"}, {"memory_class", "guaranteed"}};
  EXPECT_TRUE(ask(kept));
  EXPECT_THAT(refusal(with_huge_pages(6, 512, 512)), HasSubstr("0 huge pages of 2048 KiB"));
}

TEST_P(RefusedStartsTest, HugePagesOfOneSizeAreNotTakenForThoseOfAnother) {
  measure();
  EXPECT_TRUE(ask(with_huge_pages(5, 512, 512)));
  AnnounceRequest request = for_one_node(6, 1, 1024);
  request.huge_page_kib = 1024 * 1024;
  request.huge_pages = {{{0}, 1, 1}};
  EXPECT_TRUE(ask(request));
}

TEST_P(RefusedStartsTest, AllSizesOfAVmsHugePagesCount) {
  measure();
  AnnounceRequest request = for_one_node(5, 2, 2048);
  request.huge_page_kib = 1024 * 1024;
  request.cells = {{{0}, 1024, std::nullopt}, {{1}, 1024, 2048}};
  request.huge_pages = {{{0}, 1, 1, 1024 * 1024}, {{0}, 511, 512, 2048}};
  EXPECT_THAT(refusal(request), HasSubstr("512 huge pages of 2048 KiB, 1 huge pages of 1048576"));
  request.huge_pages.back().free = 512;
  EXPECT_TRUE(ask(request));
}

TEST_P(RefusedStartsTest, PoolsAreThoseOfTheLastReading) {
  HugePagePool pool{kMiB * 2, 64};
  host_.set_pools(std::vector{pool});
  measure();
  EXPECT_EQ(host_.controller().snapshot().topology.nodes[1].huge_pages, std::vector{pool});
  pool.pages = 32;
  host_.set_pools(std::vector{pool});
  host_.carry_out(host_.epoch());
  EXPECT_EQ(host_.controller().snapshot().topology.nodes[1].huge_pages, std::vector{pool});
  host_.set_pools(std::nullopt);  // a reading that failed says nothing
  host_.carry_out(host_.epoch());
  EXPECT_EQ(host_.controller().snapshot().topology.nodes[1].huge_pages, std::vector{pool});
}

// ---- guaranteed memory ----

/// Of ordinary pages; QEMU has 256 MiB besides (Numa.MemQosOverhead).
AnnounceRequest guaranteed(std::uint8_t number, std::int32_t vcpus, std::int64_t memory_mib) {
  AnnounceRequest request = for_one_node(number, vcpus, memory_mib);
  request.policy.push_back({"memory_class", "guaranteed"});
  return request;
}

/// Nodes of 1 GiB, of which 2 % are reserved: 1003 MiB can be promised on each. Three VMs that need
/// 64 + 256 MiB leave 43 on node 0, although twenty times as much is free there.
void start_three_guaranteed(HostStory& host) {
  host.set_free(kGiB);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    VmDescription vm = small_vm(number, "vm" + std::to_string(number), 1);
    vm.own_policy = {{"memory_class", "guaranteed"}};
    host.start(vm, 0, 5);
    host.pin(number, node_cpus(0));
  }
}

TEST_P(RefusedStartsTest, GuaranteedMemoryIsKeptPerNode) {
  start_three_guaranteed(host_);
  measure();
  AnnounceRequest request = guaranteed(5, 1, 100);
  request.policy.push_back({"nodes", "0"});
  EXPECT_THAT(refusal(request), HasSubstr("100 MiB of memory. Free were on node 0"));
  request.policy.back().value = "1";
  EXPECT_TRUE(ask(request));
  // A VM without a guarantee may use what is free and has not been promised.
  AnnounceRequest plain = for_one_node(6, 1, 100);
  plain.policy.push_back({"nodes", "0"});
  EXPECT_TRUE(ask(plain));
}

TEST_P(RefusedStartsTest, AVmOnSeveralNodesTakesGuaranteedMemoryOfThemTogether) {
  host_.set_free(kGiB);
  measure();
  AnnounceRequest wide = guaranteed(5, 4, 400);  // on two nodes by its CPUs
  wide.policy.front().value = "restricted";
  wide.policy.push_back({"nodes", "0-1"});
  ASSERT_TRUE(ask(wide));
  // Of 2006 MiB it needs 656, wherever: 1350 are left, then 594, then 38.
  for (const auto& [number, mib] : {std::pair<std::uint8_t, std::int64_t>{6, 500}, {7, 300}}) {
    AnnounceRequest beside = guaranteed(number, 1, mib);
    beside.policy.push_back({"nodes", "0-1"});
    const auto answer = ask(beside);
    EXPECT_TRUE(answer) << answer.error().message;
  }
  AnnounceRequest last = guaranteed(8, 1, 100);
  last.policy.push_back({"nodes", "0-1"});
  EXPECT_THAT(refusal(last), HasSubstr("100 MiB of memory"));
  last.policy.push_back({"memory_class", "none"});
  EXPECT_TRUE(ask(last));
}

TEST_P(RefusedStartsTest, WhatIsReservedForTheSystemIsPromisedToNoVm) {
  balancer::ConfigChanged config;
  config.mode = GetParam();
  for (const std::int32_t node : {0, 1, 2}) {
    config.reserved_memory.push_back({NodeId{node}, {}, kMiB * 500});
  }
  config.reserved_memory.push_back({NodeId{3}, kMiB * 2, kMiB * 64});
  (void)host_.controller().on(config);
  measure();
  EXPECT_EQ(host_.controller().snapshot().nodes[0].reserve, kMiB * 500);
  AnnounceRequest plain = for_one_node(5, 1, 100);
  EXPECT_TRUE(ask(plain));
  EXPECT_THAT(suggest(1, 100).nodes, ElementsAre(NodeId{3}));  // elsewhere 12 MiB are free
  AnnounceRequest huge = for_one_node(6, 1, 64);
  huge.huge_page_kib = 2048;
  huge.huge_pages = {{{3}, 63, 64}};
  EXPECT_THAT(refusal(huge), HasSubstr("on node 3 2 CPUs, 31 huge pages of 2048 KiB"));
}

TEST_P(RefusedStartsTest, PromisesOutliveTheDaemon) {
  measure();
  for (std::uint8_t number = 5; number < 9; ++number) {
    EXPECT_TRUE(ask(guaranteed(number, 1, 300)));
  }
  AnnounceRequest huge = with_huge_pages(9, 512, 512);
  EXPECT_TRUE(ask(huge));
  const Effects effects = host_.epoch();
  ASSERT_TRUE(effects.admission);
  EXPECT_TRUE(effects.admission->enforces);
  const auto read = balancer::parse_admission(to_text(*effects.admission, {1, "boot"}));
  ASSERT_TRUE(read) << read.error().message;
  HostStory next(4, GetParam(),
                 [&](balancer::ControllerSetup& setup) { setup.expected = read->state.expected; });
  (void)next.report_domains();
  next.carry_out(next.epoch());
  next.carry_out(next.epoch());
  const auto answer = [&](const AnnounceRequest& request) {
    return next.controller().on(CommandReceived{7, request}).replies.front().answer;
  };
  EXPECT_FALSE(answer(guaranteed(10, 1, 400)));  // 447 MiB are left on each node, it needs 656
  EXPECT_FALSE(answer(with_huge_pages(10, 1, 512)));
  EXPECT_TRUE(answer(guaranteed(8, 1, 300)));  // libvirt tries again
}

TEST_P(RefusedStartsTest, WhatRunningVmsAreGuaranteedOutlivesTheDaemon) {
  // Another daemon finds the VMs at home, as its history has them.
  HostStory next(4, GetParam(), [](balancer::ControllerSetup& setup) {
    for (std::uint8_t number = 1; number <= 3; ++number) {
      setup.remembered_homes[{vm_id(number), 0}] = NodeId{0};
    }
  });
  start_three_guaranteed(next);
  (void)next.report_domains();
  next.carry_out(next.epoch());
  AnnounceRequest request = guaranteed(5, 1, 100);
  request.policy.push_back({"nodes", "0"});
  const auto answer = [&] {
    return next.controller().on(CommandReceived{7, request}).replies.front().answer;
  };
  const auto refused = answer();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("100 MiB of memory. Free were on node 0"));
  request.policy.back().value = "1";
  EXPECT_TRUE(answer());
}

TEST_P(StartCommandsTest, WhatDecidesWithoutTheDaemonIsToldWhenItChanges) {
  measure();
  EXPECT_FALSE(host_.epoch().admission);
  EXPECT_TRUE(ask(for_one_node(5, 2, 100)));
  const Effects effects = host_.epoch();
  ASSERT_TRUE(effects.admission);
  EXPECT_EQ(effects.admission->enforces, GetParam() == Mode::kActive);
  ASSERT_THAT(effects.admission->nodes, SizeIs(4));
  EXPECT_EQ(effects.admission->nodes.front().cpus, 2);
  EXPECT_THAT(effects.admission->expected, SizeIs(1));
  Bytes promised;
  for (const balancer::AdmissionState::Node& node : effects.admission->nodes) {
    promised += node.promised;
  }
  EXPECT_EQ(promised, kMiB * 128);  // 100 in steps of 64
  EXPECT_FALSE(host_.epoch().admission);
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
