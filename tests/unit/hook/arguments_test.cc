// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/arguments.h"

#include <vector>

#include <gtest/gtest.h>

#include "balancer/config/config.h"

namespace vmnuma::tools {
namespace {

using Words = std::vector<std::string>;

TEST(HookArgumentsTest, ReadsWhatLibvirtPasses) {
  const auto read = parse_hook_arguments(Words{"--", "web1", "prepare", "begin", "-"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->vm, "web1");
  EXPECT_EQ(read->operation, "prepare");
  EXPECT_EQ(read->socket_path, balancer::kDefaultSocketPath);
}

TEST(HookArgumentsTest, ReadsWhatProxmoxVePasses) {
  const auto read = parse_hook_arguments(Words{"--pve", "--", "100", "pre-start"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->is_pve);
  EXPECT_EQ(read->vm, "100");
  EXPECT_EQ(read->operation, "pre-start");
  EXPECT_FALSE(parse_hook_arguments(Words{"--", "100", "pre-start"})->is_pve);
}

TEST(HookArgumentsTest, AVmMayBeCalledLikeAnOption) {
  const auto read =
      parse_hook_arguments(Words{"--socket", "/tmp/s", "--", "--help", "release", "end", "-"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->vm, "--help");
  EXPECT_FALSE(read->help);
  EXPECT_EQ(read->socket_path, "/tmp/s");
}

TEST(HookArgumentsTest, TheVmAndTheOperationAreNeeded) {
  for (const Words& words : {Words{}, Words{"--"}, Words{"web1"}, Words{"--socket"},
                             Words{"--nonsense", "web1", "prepare"}}) {
    EXPECT_FALSE(parse_hook_arguments(words));
  }
}

TEST(HookArgumentsTest, HelpAndVersionAreAskedForBeforeTheName) {
  EXPECT_TRUE(parse_hook_arguments(Words{"--help"})->help);
  EXPECT_TRUE(parse_hook_arguments(Words{"--version"})->version);
}

}  // namespace
}  // namespace vmnuma::tools
