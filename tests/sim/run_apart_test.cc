// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/run_apart.h"

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/sanitizers.h"

namespace vmnuma::tools {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr ApartLimits kPlenty{milliseconds(60'000), std::int64_t{1} << 30U};

TEST(RunApartTest, BringsBackWhatWasReturned) {
  const std::string large(3'000'000, 'x');  // more than a pipe holds
  const auto text = run_apart([&] { return large; }, kPlenty);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, large);
}

TEST(RunApartTest, LeavesThisProcessAsItIs) {
  int changed = 0;
  const auto text = run_apart(
      [&] {
        changed = 1;
        return std::string("done");
      },
      kPlenty);
  EXPECT_TRUE(text);
  EXPECT_EQ(changed, 0);
}

TEST(RunApartTest, SilencesStandardOutput) {
  testing::internal::CaptureStdout();
  const auto text = run_apart(
      [] {
        std::puts("talk");
        std::fflush(stdout);
        return std::string("done");
      },
      kPlenty);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_TRUE(text);
}

TEST(RunApartTest, EndsWhatTakesTooLong) {
  const auto text = run_apart(
      []() -> std::string {
        while (true) {
          ::pause();
        }
      },
      {milliseconds(1), kPlenty.memory_bytes});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kBusy);
}

TEST(RunApartTest, SaysHowItEnded) {
  const auto killed = run_apart(
      []() -> std::string {
        ::raise(SIGKILL);
        return "";
      },
      kPlenty);
  ASSERT_FALSE(killed);
  EXPECT_THAT(killed.error().message, HasSubstr("signal Killed"));

  const auto threw = run_apart([]() -> std::string { throw std::runtime_error("no"); }, kPlenty);
  ASSERT_FALSE(threw);
  EXPECT_EQ(threw.error().code, ErrorCode::kUnavailable);
}

TEST(RunApartTest, GivesItNoMoreMemoryThanItMayHave) {
  if (tests::kUnderSanitizer) {
    GTEST_SKIP() << "a sanitizer ends the program where it gets no memory";
  }
  const auto text = run_apart(
      [] {
        const std::vector<char> much(std::size_t{1} << 31U, 'x');
        return std::string(much.begin(), much.begin() + 1);
      },
      kPlenty);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kNoSpace);
}

}  // namespace
}  // namespace vmnuma::tools
