// SPDX-License-Identifier: Apache-2.0
#include "tools/numad/arguments.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/config/config.h"

namespace vmnuma::tools {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::string>;

NumadArguments read(const Words& words) {
  const auto arguments = parse_numad_arguments(words);
  EXPECT_TRUE(arguments) << arguments.error().message;
  return arguments.value_or(NumadArguments{});
}

std::string refusal(const Words& words) {
  const auto arguments = parse_numad_arguments(words);
  return arguments ? "accepted" : arguments.error().message;
}

TEST(NumadArgumentsTest, ReadsLibvirtsQuestion) {
  const NumadArguments arguments = read({"-w", "4:2048"});
  EXPECT_EQ(arguments.vcpus, 4);
  EXPECT_EQ(arguments.memory_mib, 2048);
  EXPECT_EQ(arguments.socket_path, balancer::kDefaultSocketPath);
}

TEST(NumadArgumentsTest, MemoryMayBeLeftOut) {
  EXPECT_EQ(read({"-w", "4"}).vcpus, 4);
  EXPECT_EQ(read({"-w", "4"}).memory_mib, 0);
}

TEST(NumadArgumentsTest, TheValueMayBeJoinedToTheOption) {
  EXPECT_EQ(read({"-w4:2048"}).memory_mib, 2048);
}

TEST(NumadArgumentsTest, TheSocketMayBeNamed) {
  EXPECT_EQ(read({"--socket", "/tmp/s", "-w", "1"}).socket_path, "/tmp/s");
}

TEST(NumadArgumentsTest, OnlyWholeNumbersInRangeAreSizes) {
  for (const char* size : {"", ":", "0", "-1", "1:", "1:-1", "1:2:3", "1 :2", "1:2 ", "4097", "x",
                           "1:x", "1.5", "+1", "99999999999999999999", "1:99999999999999999999"}) {
    EXPECT_THAT(refusal({"-w", size}), HasSubstr("-w needs CPUS[:MIB]")) << size;
  }
}

TEST(NumadArgumentsTest, TheServicesOptionsAreNotAnswered) {
  for (const Words& words : {Words{"-i", "0"}, Words{"-d"}, Words{"-p", "1234"},
                             Words{"-w", "1", "-l", "7"}, Words{"start"}, Words{""}}) {
    EXPECT_THAT(refusal(words), HasSubstr("only answers libvirt's '-w CPUS[:MIB]'"));
  }
}

TEST(NumadArgumentsTest, NothingIsNoQuestion) {
  EXPECT_THAT(refusal({}), HasSubstr("-w CPUS[:MIB] is needed"));
  EXPECT_THAT(refusal({"-w"}), HasSubstr("-w needs a value"));
  EXPECT_THAT(refusal({"-w", "1", "--socket"}), HasSubstr("--socket needs a value"));
}

TEST(NumadArgumentsTest, HelpAndVersionGoBeforeAllElse) {
  EXPECT_TRUE(read({"--help", "nonsense"}).help);
  EXPECT_TRUE(read({"-h"}).help);
  EXPECT_TRUE(read({"--version"}).version);
}

}  // namespace
}  // namespace vmnuma::tools
