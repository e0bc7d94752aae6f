// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;

tl::expected<WakeupsArguments, WakeupsExit> parsed(const std::vector<std::string>& arguments) {
  return parse_wakeups_arguments(arguments);
}

TEST(WakeupsArgumentsTest, ReadsLibvirtsPidFilesEveryTwoSecondsByDefault) {
  const auto read = parsed({});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pid_dir, "/run/libvirt/qemu");
  EXPECT_EQ(read->output, "/run/vmnuma-wakeups/counts");
  EXPECT_EQ(read->period, std::chrono::seconds(2));
}

TEST(WakeupsArgumentsTest, TakesWhatIsGiven) {
  const auto read = parsed({"--pid-dir", "/p", "--output", "/o", "--period", "500"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pid_dir, "/p");
  EXPECT_EQ(read->output, "/o");
  EXPECT_EQ(read->period, std::chrono::milliseconds(500));
}

TEST(WakeupsArgumentsTest, RefusesPeriodsThatAreNone) {
  for (const char* period : {"", "0", "9", "-1", "60001", "2s", "1.5"}) {
    const auto read = parsed({"--period", period});
    ASSERT_FALSE(read) << period;
    EXPECT_EQ(read.error().code, kWakeupsUsage);
    EXPECT_THAT(read.error().text, HasSubstr("vmnuma-wakeups --help")) << period;
  }
}

TEST(WakeupsArgumentsTest, WhatDoesNotExistIsNamed) {
  EXPECT_THAT(parsed({"--periode", "10"}).error().text,
              HasSubstr("there is no option '--periode'; did you mean '--period'?"));
  EXPECT_THAT(parsed({"10"}).error().text, HasSubstr("there is no argument '10'"));
}

TEST(WakeupsArgumentsTest, HelpAndVersionAreASuccess) {
  for (const char* word : {"--help", "--version"}) {
    const auto read = parsed({word});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, kWakeupsOk);
    EXPECT_THAT(read.error().text, HasSubstr("vmnuma-wakeups"));
  }
}

}  // namespace
}  // namespace vmnuma::tools
