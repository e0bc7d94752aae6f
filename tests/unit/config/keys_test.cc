// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/keys.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/policy/policy_keys.h"

namespace vmnuma::balancer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class Target>
void expect_sound(std::span<const KeyInfo<Target>> keys) {
  std::set<std::string_view> names;
  for (const auto& key : keys) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name << " is there twice";
    EXPECT_FALSE(key.help.empty() || key.help.ends_with(".")) << key.name;
    EXPECT_FALSE(key.allowed.empty()) << key.name;
    // The default, written down and read again, is the default.
    Target target;
    const auto set = key.set(target, key.get(Target{}));
    EXPECT_TRUE(set) << key.name << ": " << set.error().message;
    EXPECT_EQ(target, Target{}) << key.name;
  }
}

TEST(KeysTest, EveryTableIsSound) {
  expect_sound(top_keys());
  expect_sound(history_keys());
  expect_sound(policy_keys());
}

TEST(KeysTest, RefusedValueLeavesTheTargetAlone) {
  for (const auto& key : policy_keys()) {
    VmPolicy policy;
    policy.nodes = {{3}};
    policy.affinity_group = "a";
    const VmPolicy before = policy;
    EXPECT_FALSE(key.set(policy, "\x01")) << key.name;
    EXPECT_EQ(policy, before) << key.name;
  }
}

TEST(KeysTest, SetsAPolicyKeyFromText) {
  VmPolicy policy;
  ASSERT_TRUE(set_policy_key(policy, "do_not_move", "true"));
  EXPECT_TRUE(policy.do_not_move);
  ASSERT_TRUE(set_policy_key(policy, "nodes", "2-3"));
  EXPECT_EQ(policy.nodes, (std::vector<NodeId>{{2}, {3}}));
  ASSERT_TRUE(set_policy_key(policy, "nodes", ""));
  EXPECT_TRUE(policy.nodes.empty());
}

TEST(KeysTest, UnknownPolicyKeyNamesTheNearest) {
  VmPolicy policy;
  const auto set = set_policy_key(policy, "do-not-move", "true");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(set.error().message,
              StartsWith("there is no policy 'do-not-move'; did you mean 'do_not_move'?"));
}

TEST(KeysTest, UnknownPolicyKeyNamesTheValidOnes) {
  VmPolicy policy;
  const auto set = set_policy_key(policy, "colour", "blue");
  ASSERT_FALSE(set);
  for (const auto& key : policy_keys()) {
    EXPECT_THAT(set.error().message, HasSubstr(key.name));
  }
}

TEST(KeysTest, SettingsAreLaidOverAPolicyKeyByKey) {
  VmPolicy base;
  base.prefer_ht = true;
  base.max_per_node = 4;
  const auto policy = with_settings(base, {{"max_per_node", "8"}, {"nodes", "1"}});
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_TRUE(policy->prefer_ht);
  EXPECT_EQ(policy->max_per_node, 8);
  EXPECT_EQ(policy->nodes, (std::vector<NodeId>{{1}}));
  EXPECT_EQ(with_settings(base, {}).value(), base);
}

TEST(KeysTest, OneWrongSettingRefusesAll) {
  EXPECT_FALSE(with_settings({}, {{"nodes", "1"}, {"memory_mode", "hard"}}));
  EXPECT_THAT(with_settings({}, {{"memory_mode", "hard"}}).error().message,
              HasSubstr("must be 'soft', 'mask' or 'hands-off'"));
}

TEST(KeysTest, AVmThatIsToBeOnOneNodeCannotBeDividedAmongNodesAsWell) {
  const std::vector<PolicySetting> both{{"topology_policy", "single-numa-node"},
                                        {"max_per_node", "4"}};
  const auto refused = with_settings({}, both);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, StartsWith("'max_per_node' divides the VM"));
  EXPECT_FALSE(with_settings(with_settings({}, {both[0]}).value(), {both[1]}));
  for (const PolicySetting& other : {PolicySetting{"topology_scope", "client"},
                                     {"max_per_node", "0"},
                                     {"topology_policy", "restricted"}}) {
    EXPECT_TRUE(with_settings({}, {both[0], both[1], other})) << other.key;
  }
}

TEST(KeysTest, ChangedSettingsKeepTheOrderOfTheKeysAndLoseWhatIsEmpty) {
  using Settings = std::vector<PolicySetting>;
  const Settings settings{{"colour", "blue"}, {"do_not_move", "true"}};
  EXPECT_EQ(changed_settings(settings, {{"nodes", "1"}, {"do_not_move", "false"}}),
            (Settings{{"nodes", "1"}, {"do_not_move", "false"}, {"colour", "blue"}}));
  EXPECT_EQ(changed_settings(settings, {{"do_not_move", ""}, {"colour", ""}, {"nodes", ""}}),
            Settings{});
}

TEST(KeysTest, WrongPolicyValueNamesTheKeyAndWhatIsAllowed) {
  VmPolicy policy;
  const auto set = set_policy_key(policy, "max_per_node", "12x");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set.error().message, "'max_per_node' is 12x, but must be a number from 0 to 4096");
}

}  // namespace
}  // namespace vmnuma::balancer
