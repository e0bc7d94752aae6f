// SPDX-License-Identifier: Apache-2.0
/// Policies in the domains' metadata: what counts, what is refused, and how they are changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/controller.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/text.h"
#include "tests/unit/balancer/expect_replays.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CommandReceived;
using balancer::Effects;
using balancer::Mode;
using balancer::Origin;
using balancer::PolicyKeyView;
using balancer::PolicyRequest;
using balancer::PolicyView;
using balancer::SetRequest;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

VmDescription vm_with(const std::vector<PolicySetting>& own) {
  VmDescription vm = small_vm(1, "web1", 2);
  vm.own_policy = own;
  return vm;
}

/// Its configuration says: nodes 2-3, do_not_move.
void configure(balancer::ControllerSetup& setup) {
  VmPolicy policy;
  policy.nodes = {{2}, {3}};
  policy.do_not_move = true;
  setup.policies["web1"] = policy;
}

VmPolicy policy_of(HostStory& host) {
  return host.controller().ledger().find(vm_id(1))->description.policy;
}

template <class View>
View view_of(HostStory& host, balancer::Command command) {
  Effects effects = host.controller().on(CommandReceived{7, std::move(command)});
  EXPECT_THAT(effects.replies, SizeIs(1));
  EXPECT_TRUE(effects.replies.front().answer) << effects.replies.front().answer.error().message;
  return std::get<View>(*effects.replies.front().answer);
}

PolicyKeyView key_of(const PolicyView& view, std::string_view name) {
  for (const PolicyKeyView& key : view.keys) {
    if (key.name == name) {
      return key;
    }
  }
  ADD_FAILURE() << "no key " << name;
  return {};
}

TEST(MetadataPolicyTest, MetadataGoesBeforeTheConfigurationKeyByKey) {
  HostStory host(4, Mode::kActive, configure);
  host.start(vm_with({{"nodes", "1"}}), 0, 50);
  (void)host.report_domains();
  EXPECT_EQ(policy_of(host).nodes, std::vector<NodeId>{{1}});
  EXPECT_TRUE(policy_of(host).do_not_move);
}

TEST(MetadataPolicyTest, MetadataDoesNotCountWhereTheAdministratorSaysSo) {
  HostStory host(4, Mode::kActive, [](balancer::ControllerSetup& setup) {
    configure(setup);
    setup.metadata_wins = false;
  });
  host.start(vm_with({{"nodes", "1"}, {"colour", "blue"}}), 0, 50);
  const Effects effects = host.report_domains();
  EXPECT_EQ(policy_of(host).nodes, (std::vector<NodeId>{{2}, {3}}));
  EXPECT_THAT(view_of<balancer::StatusView>(host, balancer::StatusRequest{}).refused_policies,
              IsEmpty());
  const Effects set = host.controller().on(CommandReceived{7, SetRequest{"web1", {}, false}});
  EXPECT_THAT(set.replies.front().answer.error().message, HasSubstr("metadata_wins"));
}

TEST(MetadataPolicyTest, AChangeTakesEffectAtTheNextEpoch) {
  HostStory host(4, Mode::kActive);
  host.start(vm_with({}), 0, 50);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  const std::int32_t home = host.home(1);
  const std::int32_t other = home == 3 ? 1 : 3;
  // An administrator writes it with virsh; the inventory tells.
  host.set_own_policy(1, {{"nodes", std::to_string(other)}});
  (void)host.report_domains();
  host.carry_out(host.epoch());
  EXPECT_EQ(host.home(1), other);
}

TEST(MetadataPolicyTest, AWrongPolicyCountsNowhereAndTheVmIsLeftWhereItIs) {
  HostStory host(4, Mode::kActive, configure);
  host.start(vm_with({{"max_per_node", "1"}, {"memory_mode", "hard"}}), 0, 100);
  const Effects told = host.report_domains();
  EXPECT_THAT(told.log, Contains(Field(&balancer::LogLine::message,
                                       HasSubstr("'soft', 'mask' or 'hands-off'"))));
  EXPECT_EQ(policy_of(host).max_per_node, 0);
  EXPECT_EQ(policy_of(host).nodes, (std::vector<NodeId>{{2}, {3}}));
  for (int epoch = 0; epoch < 5; ++epoch) {
    EXPECT_THAT(host.epoch().orders, IsEmpty()) << epoch;
  }
  // Said once.
  EXPECT_THAT(host.report_domains().log, IsEmpty());
  const auto status = view_of<balancer::StatusView>(host, balancer::StatusRequest{});
  ASSERT_THAT(status.refused_policies, SizeIs(1));
  EXPECT_EQ(status.refused_policies.front().vm, "web1");
  EXPECT_THAT(status.refused_policies.front().reason, HasSubstr("memory_mode"));
  const auto explained = view_of<balancer::ExplainView>(host, balancer::ExplainRequest{"web1"});
  EXPECT_THAT(explained.memory, HasSubstr("refused"));
  EXPECT_THAT(explained.policy.refused, HasSubstr("'soft', 'mask' or 'hands-off'"));
}

TEST(MetadataPolicyTest, MetadataThatContradictsTheConfigurationIsRefused) {
  HostStory host(4, Mode::kActive, [](balancer::ControllerSetup& setup) {
    setup.policies["web1"].topology_policy = TopologyPolicy::kSingleNumaNode;
  });
  host.start(vm_with({{"max_per_node", "1"}}), 0, 50);
  EXPECT_THAT(host.report_domains().log,
              Contains(Field(&balancer::LogLine::message, HasSubstr("'max_per_node' divides"))));
  EXPECT_EQ(policy_of(host).max_per_node, 0);
  host.set_own_policy(1, {});
  (void)host.report_domains();
  const Effects set =
      host.controller().on(CommandReceived{7, SetRequest{"web1", {{"max_per_node", "1"}}, false}});
  EXPECT_THAT(set.replies.front().answer.error().message, HasSubstr("'max_per_node' divides"));
}

TEST(MetadataPolicyTest, AMaxPerNodeThatCannotBeKeptIsSaidOnceAndExplained) {
  HostStory host(4, Mode::kActive);
  VmDescription vm = small_vm(1, "wide", 4);
  vm.own_policy = {{"nodes", "1-2"}, {"max_per_node", "1"}};
  host.start(vm, 1, 50);
  (void)host.report_domains();
  const auto unkept = Contains(
      Field(&balancer::LogLine::message,
            "VM 'wide': max_per_node is 1 and cannot be kept: its 4 clients may live on 2 nodes"));
  EXPECT_THAT(host.epoch().log, unkept);
  for (int epoch = 0; epoch < 5; ++epoch) {
    EXPECT_THAT(host.epoch().log, Not(unkept));
  }
  const auto explained = [&host] {
    return view_of<balancer::ExplainView>(host, balancer::ExplainRequest{"wide"}).topology;
  };
  EXPECT_THAT(explained(), HasSubstr("max_per_node is 1 and cannot be kept"));
  host.set_own_policy(1, {{"max_per_node", "1"}});
  (void)host.report_domains();
  EXPECT_THAT(host.epoch().log, Not(unkept));
  EXPECT_EQ(explained(), "");
}

TEST(MetadataPolicyTest, ModeMaskOfTheConfigurationIsSoftWhereMemoryNodesCannotBeSet) {
  HostStory host(4, Mode::kActive, [](balancer::ControllerSetup& setup) {
    setup.policies["web1"].memory_mode = MemoryMode::kMask;
    setup.policies["web1"].do_not_move = true;
  });
  VmDescription vm = vm_with({});
  vm.memory_nodes_fixed = true;
  host.start(vm, 0, 50);
  EXPECT_THAT(host.report_domains().log,
              ElementsAre(Field(&balancer::LogLine::message,
                                HasSubstr("memory_mode mask of VM 'web1' is refused"))));
  EXPECT_EQ(policy_of(host).memory_mode, MemoryMode::kSoft);
  EXPECT_TRUE(policy_of(host).do_not_move);  // all else counts
  EXPECT_THAT(host.report_domains().log, IsEmpty());
}

TEST(MetadataPolicyTest, ModeMaskCannotBeSetWhereMemoryNodesCannotBeSet) {
  HostStory host(4, Mode::kActive);
  VmDescription vm = vm_with({});
  vm.memory_nodes_fixed = true;
  host.start(vm, 0, 50);
  (void)host.report_domains();
  const Effects set = host.controller().on(
      CommandReceived{7, SetRequest{"web1", {{"memory_mode", "mask"}}, false}});
  ASSERT_THAT(set.replies, SizeIs(1));
  ASSERT_FALSE(set.replies.front().answer);
  EXPECT_EQ(set.replies.front().answer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(set.replies.front().answer.error().message, HasSubstr("only libvirt can set"));
}

TEST(MetadataPolicyTest, AMendedPolicyCountsAndTheVmIsManaged) {
  HostStory host(4, Mode::kActive);
  host.start(vm_with({{"memory_mode", "hard"}}), 0, 100);
  (void)host.report_domains();
  (void)host.epoch();
  EXPECT_THAT(host.epoch().orders, IsEmpty());
  host.set_own_policy(1, {{"memory_mode", "hands-off"}});
  EXPECT_THAT(host.report_domains().log,
              Contains(Field(&balancer::LogLine::message, HasSubstr("is valid now"))));
  EXPECT_THAT(host.epoch().orders, SizeIs(1));
}

TEST(MetadataPolicyTest, TheConfigurationReadAgainMayLetMetadataCountNoMore) {
  HostStory host(4, Mode::kActive);
  host.start(vm_with({{"nodes", "1"}}), 0, 50);
  (void)host.report_domains();
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  config.metadata_wins = false;
  (void)host.controller().on(config);
  EXPECT_THAT(policy_of(host).nodes, IsEmpty());
}

TEST(MetadataPolicyTest, TheHostsStrategyCountsForVmsThatHaveNone) {
  HostStory host(4, Mode::kActive, [](balancer::ControllerSetup& setup) {
    configure(setup);
    setup.strategy = PlacementStrategy::kMostAllocated;
  });
  host.start(vm_with({}), 0, 50);
  (void)host.report_domains();
  EXPECT_EQ(policy_of(host).strategy, PlacementStrategy::kMostAllocated);
  PolicyKeyView key = key_of(view_of<PolicyView>(host, PolicyRequest{"web1"}), "strategy");
  EXPECT_EQ(key.value, "MostAllocated");
  EXPECT_EQ(key.origin, Origin::kFile);
  // Its own word goes before, and "host" is none.
  host.set_own_policy(1, {{"strategy", "least-lost-time"}});
  (void)host.report_domains();
  EXPECT_EQ(policy_of(host).strategy, PlacementStrategy::kLeastLostTime);
  host.set_own_policy(1, {{"strategy", "host"}});
  (void)host.report_domains();
  EXPECT_EQ(policy_of(host).strategy, PlacementStrategy::kMostAllocated);
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  config.strategy = PlacementStrategy::kLeastAllocated;
  (void)host.controller().on(config);
  EXPECT_EQ(policy_of(host).strategy, PlacementStrategy::kLeastAllocated);
}

/// Recorded, with a wrong policy, one that is changed and one that is mended.
std::vector<std::string> recorded(bool anonymize, std::int64_t from) {
  HostStory host(4, Mode::kActive, configure);
  host.start(vm_with({{"memory_mode", "secret"}}), 0, 100);
  VmDescription grouped = small_vm(2, "secret-db", 2);
  grouped.own_policy = {{"affinity_group", "secret"}, {"nodes", "0"}};
  host.start(grouped, 0, 100);
  std::vector<std::string> lines;
  for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
    if (epoch == from) {
      host.recorder().begin(host.controller(), anonymize, std::nullopt);
    }
    if (epoch == 4) {
      host.set_own_policy(2, {{"affinity_group", "secret"}, {"nodes", "1"}});
    }
    if (epoch == 7) {
      host.set_own_policy(1, {{"nodes", "3"}, {"do_not_move", "false"}});
    }
    (void)host.report_domains();
    host.carry_out(host.epoch());
    for (std::string& line : host.recorder().take_lines(std::size_t{1} << 24U)) {
      lines.push_back(std::move(line));
    }
  }
  EXPECT_EQ(host.home(1), 3);
  EXPECT_EQ(host.home(2), 1);
  return lines;
}

TEST(MetadataPolicyTest, RecordingsReplayToTheByte) {
  for (const bool anonymize : {false, true}) {
    for (const std::int64_t from : {0, 3, 6}) {
      const std::vector<std::string> lines = recorded(anonymize, from);
      SCOPED_TRACE("from epoch " + std::to_string(from));
      expect_replays(lines, 12 - from);
      for (const std::string& line : lines) {
        ASSERT_TRUE(!anonymize || line.find("secret") == std::string::npos) << line;
      }
    }
  }
}

TEST(PolicyCommandTest, ShowsEveryKeyWithItsValueAndWhereItComesFrom) {
  HostStory host(4, Mode::kActive, configure);
  host.start(vm_with({{"nodes", "1"}}), 0, 50);
  (void)host.report_domains();
  const auto view = view_of<PolicyView>(host, PolicyRequest{"web1"});
  EXPECT_EQ(view.vm, "web1");
  EXPECT_EQ(view.keys.size(), balancer::policy_keys().size());
  EXPECT_EQ(key_of(view, "nodes").value, "1");
  EXPECT_EQ(key_of(view, "nodes").origin, Origin::kMetadata);
  EXPECT_EQ(key_of(view, "do_not_move").value, "true");
  EXPECT_EQ(key_of(view, "do_not_move").origin, Origin::kFile);
  EXPECT_EQ(key_of(view, "prefer_ht").origin, Origin::kDefault);
}

class SetCommandTest : public testing::Test {
 protected:
  SetCommandTest() {
    host_.start(vm_with({{"prefer_ht", "true"}}), 0, 50);
    (void)host_.report_domains();
  }
  Effects set(std::vector<balancer::RequestedSetting> settings, bool persistent = false) {
    return host_.controller().on(
        CommandReceived{7, SetRequest{"web1", std::move(settings), persistent}});
  }
  std::string refusal(std::vector<balancer::RequestedSetting> settings) {
    const Effects effects = set(std::move(settings));
    EXPECT_THAT(effects.policies, IsEmpty());
    EXPECT_FALSE(effects.replies.front().answer);
    return effects.replies.front().answer ? "" : effects.replies.front().answer.error().message;
  }

  HostStory host_{4, Mode::kActive};
};

TEST_F(SetCommandTest, AsksForTheWholePolicyToBeWrittenAndChangesNothingItself) {
  const Effects effects = set({{"nodes", "0-1"}}, /*persistent=*/true);
  EXPECT_THAT(effects.replies, IsEmpty());
  ASSERT_THAT(effects.policies, SizeIs(1));
  const balancer::PolicyWrite& write = effects.policies.front();
  EXPECT_EQ(write.token, 7);
  EXPECT_EQ(write.vm, vm_id(1));
  EXPECT_TRUE(write.persistent);
  EXPECT_THAT(write.settings,
              ElementsAre(PolicySetting{"nodes", "0-1"}, PolicySetting{"prefer_ht", "true"}));
  EXPECT_THAT(policy_of(host_).nodes, IsEmpty());  // until libvirt tells of it
  EXPECT_THAT(balancer::done_view(write).message, HasSubstr("nodes=0-1 prefer_ht=true"));
}

TEST_F(SetCommandTest, APoolOfDevicesMustBeInTheConfiguration) {
  EXPECT_EQ(refusal({{"device_pool", "gpu"}}),
            "'device_pool' names 'gpu', but vmnuma.toml has no such pool");
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  config.device_pools = {{"gpu", {}}};
  (void)host_.controller().on(config);
  EXPECT_THAT(set({{"device_pool", "gpu"}}).policies, SizeIs(1));
  EXPECT_THAT(refusal({{"device_pool", "gpu,vf"}}), HasSubstr("names 'vf'"));
}

TEST_F(SetCommandTest, AKeyWithoutAValueIsTakenAway) {
  const Effects effects = set({{"prefer_ht", std::nullopt}});
  ASSERT_THAT(effects.policies, SizeIs(1));
  EXPECT_THAT(effects.policies.front().settings, IsEmpty());
}

TEST_F(SetCommandTest, WrongValuesAreRefusedWithTheValidOnes) {
  EXPECT_THAT(refusal({{"memory_mode", "hard"}}), HasSubstr("'soft', 'mask' or 'hands-off'"));
  EXPECT_THAT(refusal({{"colour", "blue"}}), HasSubstr("memory_mode"));
  EXPECT_THAT(refusal({{"colour", std::nullopt}}), HasSubstr("there is no policy 'colour'"));
  EXPECT_THAT(refusal({{"nodes", "7"}}), HasSubstr("has nodes 0-3"));
  EXPECT_THAT(refusal({{"nodes", "0"}, {"max_per_node", "-1"}}), HasSubstr("0 to 4096"));
}

TEST_F(SetCommandTest, AnUnknownVmIsRefused) {
  const Effects effects = host_.controller().on(CommandReceived{7, SetRequest{"web9", {}, false}});
  EXPECT_THAT(effects.replies.front().answer.error().message, HasSubstr("did you mean 'web1'?"));
}

TEST_F(SetCommandTest, WhatIsWrongInTheMetadataCanBeTakenAwayAndMustBe) {
  host_.set_own_policy(1, {{"<nodes>", ""}, {"prefer_ht", "true"}});
  (void)host_.report_domains();
  EXPECT_THAT(refusal({{"nodes", "0"}}), HasSubstr("would be refused"));
  const Effects effects = set({{"<nodes>", std::nullopt}});
  ASSERT_THAT(effects.policies, SizeIs(1));
  EXPECT_THAT(effects.policies.front().settings, ElementsAre(PolicySetting{"prefer_ht", "true"}));
}

}  // namespace
}  // namespace vmnuma::tests
